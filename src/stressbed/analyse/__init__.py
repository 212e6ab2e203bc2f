"""From tidy tables to result tables: pure functions, and one that reads and writes files."""

VERSION = "1"
