"""From analysed tables to figures, each as PDF, SVG and PNG, and its data as CSV."""

from collections.abc import Mapping
from types import MappingProxyType

VERSION = "7"

NEEDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "axis_dumbbell": ("hteb_scores", "hteb_ranks"),
        "delta_heatmap": ("delta_by_transformation", "hteb_scores"),
        "shifts_forest": ("shifts",),
        "drop_by_original": ("drops_by_cell",),
        "rank_stability": ("rank_stability",),
        "size_ablation": ("size_ablation", "hteb_ranks"),
    }
)
"""Tables that each figure is drawn from, the one that it cannot be drawn without first."""

FIGURES = tuple(NEEDS)
SUFFIXES = ("pdf", "svg", "png", "csv")

CROSSCHECK = "crosscheck"
"""Figure of a run with several generators; it is drawn from the table of the same name with `_cells`."""

CARDS = "cards"
"""Folder, beside the figures, of one card per embedder."""

CARD_NEEDS = (
    "hteb_scores", "hteb_ranks", "delta_by_transformation", "by_dataset", "recommendation", "worst_items",
)  # fmt: skip
"""Tables that the cards are drawn from."""

INPUTS = tuple(dict.fromkeys([*(t for tables in NEEDS.values() for t in tables), *CARD_NEEDS]))
"""Tables that figures and cards are drawn from."""
