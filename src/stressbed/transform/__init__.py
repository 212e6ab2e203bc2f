"""transform stage."""

VERSION = "2"
