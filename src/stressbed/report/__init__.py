"""report stage."""

VERSION = "2"
