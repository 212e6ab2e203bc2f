"""All statistical tables of a run, by name: the order in which they are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from stressbed.analyse.statistics.gap import setting_gap, setting_gap_by_embedder
from stressbed.analyse.statistics.halves import split_half_table
from stressbed.analyse.statistics.profiles import axis_correlations, axis_profiles, drops_by_cell
from stressbed.analyse.statistics.ranks import hteb_ranks
from stressbed.analyse.statistics.shifts import shifts
from stressbed.analyse.statistics.size import size_ablation
from stressbed.analyse.statistics.stability import rank_stability, rank_stability_by_dataset, seed_spread
from stressbed.analyse.statistics.translated import translated_datasets
from stressbed.analyse.statistics.zero_shot import zero_shot
from stressbed.analyse.study import Analysed
from stressbed.analyse.table import Table

STATISTICS: Mapping[str, Callable[[Analysed], Table]] = MappingProxyType(
    {
        "hteb_ranks": hteb_ranks,
        "axis_profiles": axis_profiles,
        "axis_correlations": axis_correlations,
        "shifts": shifts,
        "rank_stability": rank_stability,
        "rank_stability_by_dataset": rank_stability_by_dataset,
        "seed_spread": seed_spread,
        "split_half": split_half_table,
        "drops_by_cell": drops_by_cell,
        "setting_gap": setting_gap,
        "setting_gap_by_embedder": setting_gap_by_embedder,
        "zero_shot": zero_shot,
        "size_ablation": size_ablation,
        "translated_datasets": translated_datasets,
    }
)
