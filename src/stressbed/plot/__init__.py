"""From analysed tables to figures, each as PDF, SVG and PNG, and its data as CSV."""

VERSION = "1"

FIGURES = ("axis_dumbbell", "delta_heatmap")
SUFFIXES = ("pdf", "svg", "png", "csv")

INPUTS = ("hteb_scores", "delta_by_transformation")
"""Tables that the figures are drawn from."""
