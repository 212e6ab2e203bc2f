"""transform stage."""

VERSION = "3"
