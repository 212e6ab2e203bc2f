"""score stage."""

VERSION = "1"
