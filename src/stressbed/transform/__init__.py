"""transform stage."""

VERSION = "5"
