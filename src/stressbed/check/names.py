"""Checks of ids against each other: in tables, figures and paths a name stands alone, without its kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stressbed.errors import ConfigError, StressbedError

if TYPE_CHECKING:
    from stressbed.config.load import Plan

KINDS = {
    "datasets": "a dataset",
    "embedders": "an embedder",
    "generator": "a generator",
    "transformations": "a transformation",
}
"""Key of the run config -> what its ids are."""

TAKEN = frozenset(
    {
        "all", "drop", "english", "hteb", "language", "length", "lexical_stylistic", "non_english", "none",
        "original",
    }
)  # fmt: skip
"""Names of the untransformed texts, of axes and of totals, which no entry may have."""

COLUMNS = frozenset(
    {
        "dataset", "embedder", "generator", "setting", "task_type", "transformation", "n_datasets",
        "n_embedders",
    }
)  # fmt: skip
"""Columns of tables that have a further one for each transformation."""


def check_names(plan: Plan) -> Iterator[StressbedError]:
    """Yield ids of a run that mean something else already, or two things at once."""
    c = plan.config
    first: dict[str, str] = {}
    for key, kind in KINDS.items():
        for name in dict.fromkeys(getattr(c, key)):
            where = f"run config, key {key!r}"
            if name in TAKEN or (key == "transformations" and name in COLUMNS):
                yield ConfigError(
                    f"{kind} cannot be called {name!r}: tables and paths use that name for something else",
                    where=where,
                    do="give the entry another id",
                )
            elif name in first:
                yield ConfigError(
                    f"{name!r} is {first[name]} and {kind} of this run: tables could not tell them apart",
                    where=where,
                    do="give one of the entries another id",
                )
            first.setdefault(name, kind)
    for name in (s for s in c.settings if s in first):
        yield ConfigError(
            f"the setting {name!r} is called like {first[name]} of this run",
            where=f"run config, key 'settings.{name}'",
            do="give the setting another name",
        )
