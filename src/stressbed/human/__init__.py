"""Ratings by people: sheets out, ratings in, agreement, label preservation, drift."""

VERSION = "3"

SHEET_FILES = ("items.parquet", "manifest.json", "README.txt")
"""What the export writes beside the folder `sheets`."""

TABLES = ("human_ratings", "quality_vs_drift")
"""Tables that every study with ratings has; the first is the paper's tables 2 and 3."""

PRESERVATION_TABLES = ("label_preservation", "label_preservation_pairs")
"""Tables of a study on whether pairs keep their similarity: the paper's tables 4 and 13."""

FIGURES = ("quality_vs_drift",)
