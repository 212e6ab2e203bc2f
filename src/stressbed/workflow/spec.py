"""What a script is given to do its work with: entries of the catalogue, and the run's config."""

from __future__ import annotations

import json
from collections.abc import Sequence

import yaml

from stressbed.config import Plan


def spec(plan: Plan, kinds: Sequence[str]) -> str:
    """Return the catalogue entries of the run's kinds as JSON, with the run's seeds and identities.

    Args:
        plan: The run.
        kinds: Parts of the catalogue: `datasets`, `embedders`, `generators`, `transformations`, `prompts`
            or `markers`.
    """
    c, catalogue = plan.config, plan.catalogue
    steps = [s for t in plan.transformations for s in catalogue.transformations[t].steps]
    names = {
        "datasets": plan.datasets,
        "embedders": c.embedders,
        "generators": plan.generators,
        "transformations": plan.transformations,
        "prompts": sorted({s.prompt for s in steps}),
        "markers": sorted(catalogue.markers),
    }
    out: dict[str, object] = {}
    for kind in kinds:
        entries = getattr(catalogue, kind)
        out[kind] = {n: entries[n].model_dump(mode="json") for n in names[kind]}
        out[f"{kind}_folders"] = {n: str(catalogue.origin[kind, n].parent) for n in names[kind]}
        if kind in {"embedders", "generators"}:
            out[f"{kind}_files"] = {n: plan.files(kind, n) for n in names[kind]}
    chosen = plan.selection
    out["seeds"] = [*c.seeds, *([] if chosen is None else [chosen.seed])]
    out["identities"] = {
        **{f"generator:{g}": plan.generator_identity(g) for g in plan.generators},
        **{f"embedder:{e}": plan.embedder_identity(e) for e in c.embedders},
    }
    return json.dumps(out, sort_keys=True)


def resolved_config(plan: Plan) -> str:
    """Return the run's config with every default filled in, as YAML."""
    return yaml.safe_dump(plan.config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
