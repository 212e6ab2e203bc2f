"""The interactive page of a run: one HTML file made of the analysed tables, with no network."""

FILE = "robustness.html"

TABLES = (
    "hteb_ranks",
    "hteb_scores",
    "by_dataset",
    "delta_by_transformation",
    "axis_profiles",
    "drops_by_cell",
    "worst_items",
    "item_intervals",
    "shifts",
    "rank_stability",
    "split_half",
)
"""Tables that the page has a part of its own for."""

FURTHER = (
    "recommendation",
    "axis_correlations",
    "setting_gap",
    "setting_gap_by_embedder",
    "zero_shot",
    "size_ablation",
    "translated_datasets",
    "item_causes",
    "incomplete_cells",
    "statistical_tests",
)
"""Tables that the page shows as they are."""
