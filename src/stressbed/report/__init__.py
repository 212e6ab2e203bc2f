"""report stage."""

VERSION = "5"
