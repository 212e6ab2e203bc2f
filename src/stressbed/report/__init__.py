"""report stage."""

VERSION = "1"
