"""generate: plan the requests of a dataset and a generator, ask each once, keep the answers."""

VERSION = "3"
