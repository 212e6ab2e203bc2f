"""transform stage."""

VERSION = "4"
