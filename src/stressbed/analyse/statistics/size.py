"""Whether larger models of a family are more robust (the paper's 5.3 and figure 5)."""

from __future__ import annotations

from collections import defaultdict

from stressbed.analyse.aggregate import AXES, ORIGINAL
from stressbed.analyse.study import TOTAL, Analysed, Rows, Study, per_study
from stressbed.analyse.table import Table

COLUMNS = ("family", "embedder", "parameters", ORIGINAL, *AXES, TOTAL, "drop")


def size_ablation(data: Analysed) -> Table:
    """Return the scores of every family with two sizes or more, smallest first."""
    return per_study(
        data, "size_ablation", "Scores by model size within families", COLUMNS, _rows,
        notes=["Mean over seeds, then datasets; drop is original minus HTEB."],
    )  # fmt: skip


def _rows(study: Study) -> Rows:
    names = study.names
    members: dict[str, list[str]] = defaultdict(list)
    for embedder in study.embedders:
        if embedder in names.families and embedder in names.parameters:
            members[names.families[embedder]].append(embedder)
    found: list[dict[str, object]] = []
    for family, embedders in members.items():
        if len({names.parameters[e] for e in embedders}) < 2:
            continue
        for embedder in sorted(embedders, key=names.parameters.__getitem__):
            mean = study.mean_scores(embedder)
            found.append(
                {
                    "family": family, "embedder": embedder, "parameters": names.parameters[embedder],
                    **{c: mean[c] for c in (ORIGINAL, *study.axes, TOTAL)},
                    "drop": mean[ORIGINAL] - mean[TOTAL],
                }
            )  # fmt: skip
    if found:
        left = [names.label(e) for e in study.embedders if e not in {r["embedder"] for r in found}]
        why = "the catalogue gives no `family` or `parameters`, or no other size of the family is in the run"
        return found, [f"Left out{study.label}: {', '.join(left)}; {why}."] if left else []
    return [], [
        f"Left out{study.label}: no family of embedders (`family` in the catalogue) has two sizes here."
    ]
