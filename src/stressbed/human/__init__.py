"""Ratings by people: sheets out, ratings in, agreement, label preservation, drift."""

VERSION = "1"
