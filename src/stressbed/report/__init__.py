"""report stage."""

VERSION = "6"
