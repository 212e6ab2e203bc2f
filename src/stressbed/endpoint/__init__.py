"""Endpoints over HTTP, for chat and for embeddings alike: addresses, keys, attempts, what refusals mean."""
