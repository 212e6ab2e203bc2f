"""From tidy tables to result tables: pure functions, and one that reads and writes files."""

VERSION = "9"

SUFFIXES = ("csv", "md", "tex")

SCORE_TABLES = (
    "hteb_scores",
    "hteb_scores_common",
    "delta_by_transformation",
    "delta_by_task_type",
    "by_dataset",
    "by_language",
    "fallbacks",
    "incomplete_cells",
)
STATISTIC_TABLES = (
    "hteb_ranks",
    "axis_profiles",
    "axis_correlations",
    "shifts",
    "rank_stability",
    "rank_stability_by_dataset",
    "seed_spread",
    "split_half",
    "drops_by_cell",
    "setting_gap",
    "setting_gap_by_embedder",
    "zero_shot",
    "size_ablation",
    "translated_datasets",
)
"""Tables of `statistics/`; what a run lacks for one is said below it, and it has no rows."""

CATALOGUE_TABLES = ("catalogue_embedders", "catalogue_datasets", "catalogue_generators")

CONCLUSIONS = ("recommendation", "statistical_tests")
"""Tables that are made of other tables."""

FLAG_TABLES = ("generator", "transformation", "dataset", "source_language", "target_language")
TABLES = (
    *SCORE_TABLES,
    *STATISTIC_TABLES,
    *CATALOGUE_TABLES,
    "flag_rates_by_generator",
    "flag_rates_by_transformation",
    "flag_rates_by_dataset",
    "flag_rates_by_language",
    "flag_rates_by_target_language",
    "outcomes",
    "examples",
)
"""Names of all tables, in the order of the report."""

CROSSCHECK_TABLES = ("crosscheck", "crosscheck_cells")
"""Tables of a run with several generators."""

ITEM_TABLES = ("item_intervals", "worst_items", "item_causes")
"""Tables that are made of single items."""
