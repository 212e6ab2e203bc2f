"""From analysed tables to figures, each as PDF, SVG and PNG, and its data as CSV."""

VERSION = "1"

FIGURES = ("axis_dumbbell", "delta_heatmap")
SUFFIXES = ("pdf", "svg", "png", "csv")

CROSSCHECK = "crosscheck"
"""Figure of a run with several generators; it is drawn from the table of the same name with `_cells`."""

INPUTS = ("hteb_scores", "delta_by_transformation")
"""Tables that the figures are drawn from."""
