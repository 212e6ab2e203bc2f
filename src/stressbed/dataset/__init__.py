"""Freeze datasets, thaw them as mteb tasks, list what is embedded, put new texts in place."""

VERSION = "3"
