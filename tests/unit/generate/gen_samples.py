"""A small dataset and the shipped catalogue, for the tests of the generate stage."""

from pathlib import Path

import pandas as pd

from stressbed.config.catalogue import Catalogue

CATALOGUE = Path(__file__).parents[3] / "config" / "catalogue"


def catalogue():
    return Catalogue.read([CATALOGUE / f"{n}.yaml" for n in ("transformations", "prompts", "generators")])


def hteb(cat):
    """The eight transformations of the paper."""
    return [t for t in cat.transformations.values() if t.order < 100]


def texts_frame(rows):
    """Texts from (subset, language, side, text); each is a row of its own."""
    return pd.DataFrame(
        [
            {
                "text_id": i, "subset": subset, "split": "test", "field": "text", "row": str(i),
                "position": 0, "side": side, "language": language, "text": text,
            }
            for i, (subset, language, side, text) in enumerate(rows)
        ]
    )  # fmt: skip


def english(n, subset="default"):
    sentence = "a man plays the guitar while two dogs run along the quiet river near our old house"
    words = sentence.split()
    return texts_frame(
        [(subset, "eng-Latn", "document", " ".join(words[: 4 + i % 12]) + f" number {i}") for i in range(n)]
    )


def manifest(languages, dataset="sample"):
    return {"dataset": dataset, "languages": languages, "content_hash": "0" * 32}
