"""report stage."""

VERSION = "7"
