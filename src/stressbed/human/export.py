"""Sheets for raters, and the key that their ratings are read with."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from stressbed.config.entries import TransformationEntry
from stressbed.config.model import HumanStudy
from stressbed.errors import DataError
from stressbed.fingerprint import digest
from stressbed.human.form import form
from stressbed.human.pairs import PAIR_COLUMNS, draw_pairs
from stressbed.human.sample import COLUMNS, REWRITTEN, draw_items, groups_of, names
from stressbed.human.sheets import Sheet, language_names, make_sheets
from stressbed.store import read_parquet, write_atomic, write_text

TEXT_COLUMNS = list(dict.fromkeys([*COLUMNS, *PAIR_COLUMNS]))


def export(
    *,
    transforms: Sequence[Path],
    study: HumanStudy,
    transformations: Mapping[str, TransformationEntry],
    dataset_folders: Mapping[str, Path],
    folder: Path,
    further: Sequence[Path] = (),
) -> dict[str, Any]:
    """Write `sheets/*.csv`, `sheets/*.html`, `items.parquet`, `manifest.json` and `README.txt`.

    Args:
        transforms: Files of rewrites of one generator and seed.
        study: What is drawn.
        transformations: Catalogue entries by id.
        dataset_folders: Frozen datasets by id; only that of `study.label_preservation` is read.
        folder: Where to write; an older `sheets` folder in it is replaced.
        further: Files under further seeds, for pairs in further target languages.

    Returns:
        The manifest.

    Raises:
        DataError: Nothing can be drawn, or the pairs' dataset does not fit.
    """
    rewrites = draw_items(transforms, study=study, transformations=transformations)
    items = [rewrites]
    if study.label_preservation is not None:
        data = dataset_folders[study.label_preservation.dataset]
        items.append(
            draw_pairs(
                transforms, study=study, transformations=transformations, dataset_folder=data, further=further
            )
        )
    drawn = _one_table(items)
    if drawn.empty:
        raise DataError(
            "there is nothing to rate: no text was rewritten",
            where=f"{len(transforms)} files of rewrites",
            allowed=f"texts with the outcome {', '.join(REWRITTEN)}"
            + (f" in {', '.join(study.source_languages)}" if study.source_languages else ""),
            do="look at the fallbacks of the run, or change human.source_languages",
        )
    sheets = make_sheets(drawn, seed=study.seed, transformations=transformations)
    found = _manifest(drawn, sheets, transforms=transforms, study=study, transformations=transformations)
    shutil.rmtree(folder / "sheets", ignore_errors=True)
    for sheet in sheets:
        write_text(folder / "sheets" / f"{sheet.name}.csv", sheet.csv())
        write_text(folder / "sheets" / f"{sheet.name}.html", form(sheet))
    write_text(folder / "README.txt", readme(sheets, study=study))
    write_text(folder / "manifest.json", json.dumps(found, indent=1, sort_keys=True) + "\n")
    write_atomic(folder / "items.parquet", lambda tmp: drawn.to_parquet(tmp, index=False))
    return found


def _one_table(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return all items in one table; what a kind has not is missing, languages are never."""
    items = pd.concat([p.reindex(columns=TEXT_COLUMNS) for p in parts if len(p)] or [parts[0]])
    items["target_language"] = items["target_language"].fillna("")
    types: dict[str, Any] = {"position": "Int64", "text_id": "Int64", "gold": "float64"}
    items = items.reindex(columns=TEXT_COLUMNS).astype({c: types.get(c, "string") for c in TEXT_COLUMNS})
    twice = items["item_id"][items["item_id"].duplicated()]
    if len(twice):
        raise DataError(f"two items have the id {twice.iloc[0]}", do="choose another human.seed")
    return items.sort_values(["kind", "group", "item_id"]).reset_index(drop=True)


def _manifest(
    items: pd.DataFrame,
    sheets: Sequence[Sheet],
    *,
    transforms: Sequence[Path],
    study: HumanStudy,
    transformations: Mapping[str, TransformationEntry],
) -> dict[str, Any]:
    """Return what was asked for, what was drawn, and what was left out."""
    outcomes: dict[str, Counter[str]] = {}
    for path in transforms:
        counts = outcomes.setdefault(names(path)[1], Counter())
        counts.update(read_parquet(path, ["outcome"])["outcome"].to_pylist())
    quality = items[items["kind"] == "quality"]["group"].value_counts().to_dict()
    originals = items[items["form"] == "original"]
    pairs = originals["group"].value_counts().to_dict()
    spoken = Counter(zip(originals["group"], originals["target_language"], strict=True))
    groups = groups_of(outcomes, transformations)
    kept = study.label_preservation
    return {
        "seed": study.seed,
        "items_hash": digest([items["item_id"].tolist(), [list(s.items) for s in sheets]]),
        "raters": {"quality": study.raters, "similarity": None if kept is None else kept.raters},
        "groups": {
            group: {
                "asked": study.per_transformation * len(members),
                "drawn": int(quality.get(group, 0)),
                "fallbacks": sum(outcomes[t]["fallback"] for t in members),
                "dropped": sum(outcomes[t]["dropped"] for t in members),
            }
            for group, members in groups.items()
        },
        "pairs": {}
        if kept is None
        else {
            t: {
                "asked": kept.pairs,
                "drawn": int(pairs.get(t, 0)),
                "target_languages": {lang: n for (g, lang), n in sorted(spoken.items()) if lang and g == t},
            }
            for t in kept.transformations
        },
        "sheets": {
            s.name: {"kind": s.kind, "languages": list(s.languages), "items": len(s.items)} for s in sheets
        },
    }


def readme(sheets: Sequence[Sheet], *, study: HumanStudy) -> str:
    """Return the organiser's page: which sheet goes to whom, and what comes back."""
    kept = study.label_preservation
    raters = {"quality": study.raters, "similarity": study.raters if kept is None else kept.raters}
    lines = [
        f"{s.name}\n    {len(s.items)} items, at least {raters[s.kind]} raters; "
        f"native speakers of {language_names(s.languages)}"
        for s in sheets
    ]
    return _README + "\n".join(lines) + "\n"


_README = """Sheets for human raters
=======================

Each sheet in the folder `sheets` comes as an HTML form and as a CSV file. Give a rater one of
the two. The form opens in any browser, needs no network, and saves a CSV file. The CSV opens in
Excel, LibreOffice or Google Sheets; an apostrophe in front of = + - or @ only keeps the program
from taking a text for a formula.

What raters do
- Quality sheets: rate quality and fluency from 1 (worst) to 5 (best) with whole numbers.
  Quality: was the task done while the meaning was kept? Fluency: does the rewrite read as well-formed?
- Similarity sheets: rate how similar in meaning two texts are, from 0 to 5 with whole numbers.
- Rate alone, all items of a sheet, without help from AI. An empty cell counts as not rated.

Whom to ask
- Native speakers of the sheet's languages; of a language pair, those who know both that well.
- On a crowd platform: at least 95 % accepted work, at least 1,000 accepted tasks, a location where the
  language is spoken, and a confirmation that no AI is used.
- Ask for no personal data; a number is name enough.

What comes back
- Give out copies, and collect filled sheets elsewhere: the folder `sheets` is emptied when sheets are
  drawn anew, with all that was saved in it.
- One file per rater and sheet, in one folder. From the form: as it was saved. From the CSV: save it
  under the rater's name (the file's name becomes the rater). Do not change the column item_id.
- Keep items.parquet from the raters: it says which texts are originals. Ratings are read with it.
- Then name the folder in the run config under human: ratings: and run again.

Sheets
"""
