"""Checks of a run's settings: which datasets are analysed together, with which embedders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stressbed.errors import ConfigError, StressbedError, suggest

if TYPE_CHECKING:
    from stressbed.config.load import Plan


def check_settings(plan: Plan) -> Iterator[StressbedError]:
    """Yield what is wrong with the settings: names that the run lacks, datasets in none or in two."""
    c = plan.config
    if not c.settings:
        return
    for name, setting in c.settings.items():
        for key in ("datasets", "embedders"):
            own = getattr(c, key)
            for value in getattr(setting, key):
                if value not in own:
                    yield ConfigError(
                        f"{value!r} is not part of this run",
                        where=f"run config, key 'settings.{name}.{key}'",
                        allowed=", ".join(own),
                        do=suggest(value, own) or f"add it to `{key}`",
                    )
    counts = Counter(d for s in c.settings.values() for d in s.datasets)
    for dataset in c.datasets:
        if counts[dataset] != 1:
            yield ConfigError(
                f"the dataset {dataset!r} belongs to {counts[dataset] or 'no'} settings",
                where="run config, key 'settings'",
                allowed="every dataset of the run stands in one setting",
            )
    used = {e for s in c.settings.values() for e in s.embedders or c.embedders}
    for embedder in (e for e in c.embedders if e not in used):
        yield ConfigError(
            f"the embedder {embedder!r} belongs to no setting",
            where="run config, key 'settings'",
            do="name it in a setting, or take it out of `embedders`",
        )
    if any(s.embedders for s in c.settings.values()) and not {"embedder", "dataset"} <= set(c.job_axes):
        yield ConfigError(
            "settings with embedders of their own need jobs of one embedder and one dataset",
            where="run config, key 'job_axes'",
            allowed="embedder and dataset, and variant",
            do="write `job_axes: [embedder, dataset]`",
        )
