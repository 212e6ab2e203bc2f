"""What mteb's metadata say of a run's embedders; mteb is imported only where they are asked for."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from stressbed.config.entries import EmbedderEntry
from stressbed.config.load import Plan

logger = logging.getLogger("stressbed")

HUB = frozenset({"mteb", "sentence-transformers"})
"""Backends whose models may have a name on a hub."""


def on_a_hub(entry: EmbedderEntry) -> bool:
    """Return whether an embedder has a name under which mteb may know it."""
    return entry.backend in HUB and "/" in entry.model and not entry.model.startswith("package:")


def metadata(models: Iterable[str]) -> dict[str, Any]:
    """Return mteb's metadata of each model on a hub; None where mteb has no record of it."""
    import mteb

    found: dict[str, Any] = {}
    for model in dict.fromkeys(models):
        try:
            found[model] = mteb.get_model_meta(model, fetch_from_hf=False)
        except (KeyError, ValueError) as e:
            logger.info("mteb has no record of %s: %s", model, e)
            found[model] = None
    return found


def trained_languages(plan: Plan) -> dict[str, frozenset[str]]:
    """Return the languages (ISO 639-3) that each embedder was trained on; none where nobody says.

    An entry's `languages` come first, then mteb's metadata. Only runs with a translated dataset need them.
    """
    if not any(plan.translation(d) for d in plan.config.datasets):
        return {}
    entries = {e: plan.catalogue.embedders[e] for e in plan.config.embedders}
    asked = {e.model for e in entries.values() if not e.languages and on_a_hub(e)}
    known = metadata(asked) if asked else {}
    tags = {
        name: e.languages or list(getattr(known.get(e.model), "languages", None) or [])
        for name, e in entries.items()
    }
    return {name: frozenset(t.partition("-")[0] for t in found) for name, found in tags.items()}
