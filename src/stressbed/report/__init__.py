"""report stage."""

VERSION = "3"
