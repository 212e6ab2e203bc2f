"""report stage."""

VERSION = "4"
