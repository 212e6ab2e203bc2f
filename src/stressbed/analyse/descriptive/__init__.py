"""Tables that describe and infer nothing: scores, rewrites, what the run is made of."""
