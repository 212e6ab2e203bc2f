"""dataset stage."""

VERSION = "1"
