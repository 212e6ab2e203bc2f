"""transform stage."""

VERSION = "1"
