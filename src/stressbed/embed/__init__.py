"""embed stage."""

VERSION = "1"
