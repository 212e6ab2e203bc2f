"""embed stage."""

VERSION = "2"
