"""analyse stage."""

VERSION = "1"
