"""embed stage."""

VERSION = "3"
