"""Choosing the generator: screening by error rates, a shortlist that judges each other, a winner."""

VERSION = "1"
