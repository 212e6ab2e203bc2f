"""collect stage."""

VERSION = "1"
