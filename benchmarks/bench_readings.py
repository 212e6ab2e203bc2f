"""Two readings of one protocol on the same vectors: mteb's, and that of HTEB's public code.

    python -m benchmarks readings

Human-rated and labelled data that gensim brings: 200 sentences of film reviews (classification), SimLex-999
and WordSim-353 (two sets of rated word pairs, as two subsets of one dataset; SimLex also as pairs that are
alike or not, cut at the middle of the scale). Original texts only. docs/authors-reading.md says what is read.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "equality"))

from eq_chain import Chain  # noqa: E402
from scipy.stats import spearmanr  # noqa: E402

from stressbed.config.catalogue import Catalogue  # noqa: E402
from stressbed.config.entries import EmbedderEntry  # noqa: E402

EMBEDDERS = ("minilm-l6", "wordllama", "tf")


def gensim_file(name: str) -> Path:
    found = find_spec("gensim")
    assert found is not None
    assert found.submodule_search_locations
    return Path(found.submodule_search_locations[0]) / "test" / "test_data" / name


def rated(name: str) -> dict[str, list[Any]]:
    """Return word pairs with their ratings from 0 to 10."""
    lines = gensim_file(name).read_text(encoding="utf-8").splitlines()
    rows = [x.split("\t") for x in lines if x and not x.startswith("#")]
    rows = [r for r in rows if r[2].replace(".", "", 1).isdigit()]
    first, second, rating = (list(column) for column in zip(*rows, strict=True))
    return {"sentence1": first, "sentence2": second, "score": [float(x) for x in rating]}


def reviews() -> dict[str, dict[str, list[Any]]]:
    """Return sentences of film reviews, half of each class for training and half for the test."""
    lines = gensim_file("pang_lee_polarity.cor").read_text(encoding="cp1252").splitlines()
    of_class: dict[str, list[str]] = {}
    for line in lines:
        label, _, text = line.partition(" ")
        of_class.setdefault(label, []).append(text)
    parts: dict[str, dict[str, list[Any]]] = {s: {"text": [], "label": []} for s in ("train", "test")}
    for number, texts in enumerate(of_class.values()):
        half = len(texts) // 2
        for split, chosen in (("train", texts[:half]), ("test", texts[half:])):
            parts[split]["text"] += chosen
            parts[split]["label"] += [number] * len(chosen)
    return parts


def cell(kind: str, data: Any, entry: EmbedderEntry, **more: Any) -> dict[str, Any]:
    """Return the original's cell under an embedder; further keys of the manifest say how it is scored."""
    with tempfile.TemporaryDirectory() as folder:
        chain = Chain(Path(folder), kind, entry, {"default": data}, more)
        chain.embed()
        chain.score()
        return chain.cell()


def similarities(found: Mapping[str, Any]) -> list[float]:
    (items,) = (i for i in found["items"] if i["unit"] == "pair")
    return list(items["values"])


def main() -> None:
    known = Catalogue.read([ROOT / "config" / "catalogue" / "embedders" / "small.yaml"]).embedders
    sets = {"SimLex-999": rated("simlex999.txt"), "WordSim-353": rated("wordsim353.tsv")}
    rows = []
    for name in EMBEDDERS:
        entry = known[name]
        films = reviews()
        sampled, whole = (
            cell("Classification", films, entry, evaluation=e)["score"]
            for e in (None, {"training_rows": "all"})
        )
        rows.append(("classifier: sampled rows / all rows (accuracy)", name, sampled, whole))
        rated_pairs = sets["SimLex-999"]
        alike = {**rated_pairs, "label": [int(s >= 5) for s in rated_pairs["score"]]}
        del alike["score"]
        best, cosine = (
            cell("PairClassification", {"test": alike}, entry, main_score=m)["score"]
            for m in ("max_ap", "cosine_ap")
        )
        rows.append(("pairs: `max_ap` / `cosine_ap`", name, best, cosine))
        found = {n: cell("STS", {"test": d}, entry, min_score=0, max_score=10) for n, d in sets.items()}
        pooled = spearmanr(
            [v for c in found.values() for v in similarities(c)],
            [s for d in sets.values() for s in d["score"]],
        ).statistic
        mean = float(np.mean([c["score"] for c in found.values()]))
        rows.append(("two sets of word pairs: mean / pooled (Spearman)", name, mean, 100 * float(pooled)))
    table.publish(
        "readings",
        ("mteb's reading / the other one", "embedder", "mteb's", "the other", "difference"),
        [(what, name, f"{a:.2f}", f"{b:.2f}", f"{b - a:+.2f}") for what, name, a, b in sorted(rows)],
        "100 sentences of film reviews for training and 100 for the test; SimLex-999 (alike: rated 5 or "
        "more of 10) and WordSim-353; all from gensim's test data. Points of 100.",
        document=ROOT / "docs" / "authors-reading.md",
    )


if __name__ == "__main__":
    main()
