"""plot stage."""

VERSION = "1"
