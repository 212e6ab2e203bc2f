"""Filled sheets come back: every program's file, every fault, and tables with known truth."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from approved import approve
from irrCAC.raw import CAC

from stressbed.analyse.names import Names
from stressbed.config.model import HumanStudy, LabelPreservation
from stressbed.errors import Problems
from stressbed.human.ratings import read_ratings
from stressbed.human.tables import (
    human_ratings,
    label_preservation,
    label_preservation_pairs,
    paired_ratings,
)

DATA = Path(__file__).parents[2] / "data" / "human"
ITEMS = pd.read_parquet(DATA / "items.parquet")
EXPECTED = pd.read_csv(DATA / "expected.csv").set_index("item_id")
FILLED = sorted(p for p in DATA.iterdir() if "rater" in p.name)
ONE = HumanStudy(raters=1)


@pytest.mark.parametrize("path", FILLED, ids=lambda p: p.name)
def test_every_program_s_file_gives_the_same_ratings(path):
    if path.suffix == ".xlsx":
        pytest.importorskip("openpyxl", reason="needs openpyxl: not installed")
    found = read_ratings([path], ITEMS, study=ONE).frame
    wide = found.pivot(index="item_id", columns="criterion", values="rating")
    for criterion in ("quality", "fluency"):
        assert wide[criterion].to_dict() == EXPECTED[criterion].to_dict()
    assert set(found["rater"]) == {"rater5" if "form" in path.name else path.stem}


def test_several_raters_together():
    found = read_ratings(FILLED, ITEMS, study=HumanStudy(raters=5))
    assert len(found.frame) == 5 * 2 * len(EXPECTED)
    assert found.frame["rater"].nunique() == 5


def sheet(tmp_path: Path, body: str, name: str = "anna.csv", header: str = "item_id,quality,fluency") -> Path:
    path = tmp_path / name
    path.write_text(f"{header}\n{body}\n", encoding="utf-8")
    return path


IDS = list(EXPECTED.index)


def problems(files, items=ITEMS, study=ONE) -> list[str]:
    with pytest.raises(Problems) as caught:
        read_ratings(files, items, study=study)
    return [p.message() for p in caught.value.problems]


FAULTS = [
    (f"{IDS[0]},6,5", None, ["quality 6 is off the scale", "anna.csv, line 2", "1 to 5"]),
    (f"{IDS[0]},0,5", None, ["quality 0 is off the scale"]),
    (f"{IDS[0]},3.5,5", None, ["quality '3.5' is no whole number"]),
    (f"{IDS[0]},good,5", None, ["quality 'good' is no whole number", "ask the rater"]),
    ("t0000000000,3,5", None, ["no item is called 't0000000000'", "line 2"]),
    (f"{IDS[0][:-1]}x,3,5", None, ["no item is called", "did you mean"]),
    (f"{IDS[0]},3,5\n{IDS[0]},4,5", None, ["rated the quality of item", "twice: 3 and 4", "line 3"]),
    (f"{IDS[0]},3", "item_id,quality", ["the column 'fluency' is missing", "item_id, quality",
                                        "do not remove columns"]),
    (f"{IDS[0]},3,5", "item_id,quality,fluencies", ["'fluency' is missing", "did you mean 'fluencies'"]),
    (f"{IDS[0]},3,5", "id,quality,fluency", ["no column 'item_id'", "do not rename"]),
    ("", None, ["the file holds no row"]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "header", "said"), FAULTS)
def test_a_fault_is_told_with_its_place(tmp_path, body, header, said):
    path = sheet(tmp_path, body, header=header or "item_id,quality,fluency")
    found = problems([path])
    assert len(found) == 1, found
    for words in said:
        assert words in found[0]


def test_every_message_is_approved(tmp_path):
    found = [
        m
        for body, header, _ in FAULTS
        for m in problems([sheet(tmp_path, body, header=header or "item_id,quality,fluency")])
    ]
    empty, torn = tmp_path / "empty.csv", tmp_path / "torn.xlsx"
    empty.write_text("")
    torn.write_bytes(b"PK no workbook")
    found += problems([empty, torn, sheet(tmp_path, f"{IDS[0]},3,4\n{IDS[1]},2,")])
    found += problems([sheet(tmp_path, f"{IDS[0]},3,4\n{IDS[1]},2,")], study=HumanStudy(raters=2))
    items, _ = preserved()
    study = HumanStudy(label_preservation=LabelPreservation(dataset="d", raters=1))
    forms = [(name, [i for i in items["item_id"] if i.endswith(name)]) for name in ("original", "rewritten")]
    halves = [sheet(tmp_path, "\n".join(f"{i},3" for i in ids), f"{name}.csv", "item_id,similarity")
              for name, ids in forms]  # fmt: skip
    found += problems(halves, items[::-1], study)
    approve("human/faults_of_ratings.txt", "\n".join(found).replace(str(tmp_path), "FOLDER") + "\n")


def test_all_faults_are_told_in_one_go(tmp_path):
    files = [sheet(tmp_path, f"{IDS[0]},9,1\nzzz,1,1", "a.csv"), sheet(tmp_path, f"{IDS[1]},x,1", "b.csv")]
    assert len(problems(files)) == 3


def test_too_few_raters_are_counted(tmp_path):
    body = "\n".join(f"{i},3,4" for i in IDS)
    files = [sheet(tmp_path, body, f"{r}.csv") for r in "abc"]
    files.append(sheet(tmp_path, f"{IDS[0]},5,5", "d.csv"))
    assert len(read_ratings(files, ITEMS, study=HumanStudy(raters=3)).frame) == 6 * len(IDS) + 2
    (found,) = problems(files[:2], study=HumanStudy(raters=3))
    assert f"{len(IDS)} of {len(IDS)} quality items have fewer than 3 raters ({len(IDS)} have 2)" in found


def test_a_repeated_rating_counts_once_and_an_empty_cell_is_not_rated(tmp_path):
    body = "\n".join(f"{i},3,4" for i in IDS)
    path = sheet(tmp_path, f"{body}\n{IDS[0]},3,4\n{IDS[1]},,")
    found = read_ratings([path], ITEMS, study=ONE)
    assert (found.repeated, found.unrated) == (2, 2)
    assert len(found.frame) == 2 * len(IDS)


def test_a_damaged_workbook_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "broken.xlsx"
    path.write_bytes(b"PK no workbook")
    (found,) = problems([path])
    assert "the workbook cannot be read" in found
    assert "broken.xlsx" in found


AXES = {"paraphrasing": "lexical_stylistic", "expansion": "length", "translation": "language",
        "cross_translation": "language"}  # fmt: skip
NAMES = Names({}, {}, {}, {t: t.title() for t in AXES}, AXES)
POOLED = "translation+cross_translation"


def study_items(n: int = 60) -> pd.DataFrame:
    groups = {"paraphrasing": ["paraphrasing"], "expansion": ["expansion"],
              POOLED: ["translation", "cross_translation"]}  # fmt: skip
    return pd.DataFrame(
        [
            {"item_id": f"{g}{i}", "kind": "quality", "group": g, "transformation": ts[i % len(ts)],
             "source_language": ("eng-Latn", "spa-Latn")[i % 2]}
            for g, ts in groups.items()
            for i in range(n)
        ]
    )  # fmt: skip


def rate(items: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Three raters; paraphrasing is good, expansion bad, translations in between."""
    rng = np.random.default_rng(seed)
    level = {"paraphrasing": 4.4, "expansion": 2.2}
    rows = []
    for item in items.to_dict("records"):
        true = level.get(item["group"], 3.6) + rng.normal(scale=0.6)
        for criterion in ("quality", "fluency"):
            for rater in "abc":
                value = int(np.clip(round(true + rng.normal(scale=0.5)), 1, 5))
                rows.append((item["item_id"], rater, criterion, value))
    return pd.DataFrame(rows, columns=["item_id", "rater", "criterion", "rating"])


def test_means_spread_agreement_and_acceptance():
    items = study_items()
    ratings = rate(items)
    frame = human_ratings(ratings, items, NAMES, HumanStudy()).frame
    held = frame[frame["source_language"] == "all"].set_index("group")
    assert list(held.index) == [
        "lexical_stylistic", "paraphrasing", "length", "expansion", "language", POOLED, "overall",
    ]  # fmt: skip
    assert held["accepted"].to_dict() == {
        "lexical_stylistic": True, "paraphrasing": True, "length": False, "expansion": False,
        "language": True, POOLED: True, "overall": True,
    }  # fmt: skip
    joined = ratings.merge(items, on="item_id")
    quality = joined[(joined["criterion"] == "quality") & (joined["group"] == "expansion")]
    assert held.loc["expansion", "quality"] == pytest.approx(quality["rating"].mean())
    assert held.loc["expansion", "quality_sd"] == pytest.approx(quality["rating"].std())
    wide = quality.pivot(index="item_id", columns="rater", values="rating").astype(float)
    theirs = CAC(wide, weights="ordinal", categories=[1, 2, 3, 4, 5]).gwet()["est"]
    assert held.loc["expansion", "quality_ac2"] == pytest.approx(theirs["coefficient_value"], abs=1e-5)
    spanish = frame[frame["source_language"] == "spa-Latn"].set_index("group")
    assert spanish.loc["overall", "n_items"] == 90


def preserved() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two pairs and two raters, small enough for pencil and paper."""
    items = pd.DataFrame(
        [
            {"item_id": f"{p}{f}", "kind": "similarity", "transformation": "paraphrasing", "pair_id": p,
             "form": f, "gold": g, "text1": f"{p}1 {f}", "text2": f"{p}2 {f}"}
            for p, g in (("p", 4.0), ("q", 1.0))
            for f in ("original", "rewritten")
        ]
    )  # fmt: skip
    given = {("p", "original"): (5, 4), ("p", "rewritten"): (4, 2), ("q", "original"): (1, 0),
             ("q", "rewritten"): (1, 3)}  # fmt: skip
    rows = [
        (f"{p}{f}", r, "similarity", v) for (p, f), vs in given.items() for r, v in zip("ab", vs, strict=True)
    ]
    return items, pd.DataFrame(rows, columns=["item_id", "rater", "criterion", "rating"])


def test_label_preservation_by_hand():
    items, ratings = preserved()
    row = label_preservation(paired_ratings(ratings, items), NAMES, resamples=200).frame.iloc[0]
    # Rater by rater: |4-5|, |2-4|, |1-1|, |3-0|.
    assert (row["original"], row["rewritten"], row["gold"], row["mad"]) == (2.5, 2.5, 2.5, 1.5)
    assert row["within_one"] == 50.0
    pair = label_preservation_pairs(paired_ratings(ratings, items), NAMES, resamples=200).frame.iloc[0]
    # Consensus: p 4.5 and 3, q 0.5 and 2; gold 4 and 1.
    assert (pair["rewritten_original_mad"], pair["rewritten_original_within_one"]) == (1.5, 0.0)
    assert (pair["rewritten_gold_mad"], pair["rewritten_gold_within_one"]) == (1.0, 100.0)
    assert (pair["original_gold_mad"], pair["original_gold_within_one"]) == (0.5, 100.0)


def test_label_preservation_by_target_language_by_hand():
    items, ratings = preserved()
    spoken = {"p": "deu-Latn", "q": "fra-Latn"}
    items = items.assign(transformation="translation", target_language=items["pair_id"].map(spoken))
    more = items.assign(transformation="paraphrasing", target_language="", item_id=items["item_id"] + "x")
    twice = ratings.assign(item_id=ratings["item_id"] + "x")
    paired = paired_ratings(pd.concat([ratings, twice]), pd.concat([items, more]))
    table = label_preservation(paired, NAMES, resamples=200)
    found = table.frame.set_index(["transformation", "target_language"])
    assert found["mad"].to_dict() == {
        ("paraphrasing", "all"): 1.5, ("translation", "all"): 1.5, ("translation", "deu-Latn"): 1.5,
        ("translation", "fra-Latn"): 1.5,
    }  # fmt: skip
    assert found["original"].tolist() == [2.5, 2.5, 4.5, 0.5]
    assert found["gold"].tolist() == [2.5, 2.5, 4.0, 1.0]
    assert found["n_pairs"].tolist() == [2, 2, 1, 1]
    assert table.notes[-1].endswith("(both sentences in it): German 1, French 1.")
    by_pair = label_preservation_pairs(paired, NAMES, resamples=200).frame.set_index("target_language")
    assert by_pair.loc["deu-Latn", ["rewritten", "original", "gold"]].tolist() == [3.0, 4.5, 4.0]
    assert by_pair.loc["fra-Latn", "rewritten_original_mad"] == 1.5
    alone = label_preservation(
        paired_ratings(ratings, items.assign(target_language="deu-Latn")), NAMES, resamples=200
    )
    assert "target_language" not in alone.frame
    assert alone.notes[-1].endswith("(both sentences in it): German 2.")


def test_pairs_that_share_texts_are_drawn_by_their_texts():
    """15 pairs of 6 texts: six texts are drawn; of 5 there is no interval, though there are 10 pairs."""
    for n, drawn in ((6, 6), (5, 5)):
        places = list(combinations(range(n), 2))
        items = pd.DataFrame(
            {"item_id": f"{p}{f}", "kind": "similarity", "transformation": "paraphrasing", "pair_id": str(p),
             "form": f, "gold": 1.0, "text1": f"{a} {f}", "text2": f"{b} {f}"}
            for p, (a, b) in enumerate(places) for f in ("original", "rewritten")
        )  # fmt: skip
        ratings = items[["item_id"]].assign(
            rater="a", criterion="similarity", rating=[i * 7 % 5 for i in range(len(items))]
        )
        paired = paired_ratings(ratings, items)
        row = label_preservation(paired, NAMES, resamples=200).frame.iloc[0]
        assert row[["n_pairs", "n_resampled"]].tolist() == [len(places), drawn]
        assert np.isnan(row["mad_low"]) == (n < 6)
        pair = label_preservation_pairs(paired, NAMES, resamples=200).frame.iloc[0]
        assert np.isnan(pair["rewritten_gold_low"]) == (n < 6)
        assert pair["n_resampled"] == drawn


def test_a_rater_of_one_form_only_does_not_count():
    items, ratings = preserved()
    lone = pd.DataFrame([("poriginal", "c", "similarity", 0)], columns=ratings.columns)
    found = paired_ratings(pd.concat([ratings, lone]), items)
    assert set(found["rater"]) == {"a", "b"}


def test_similarity_sheets_have_their_own_scale_and_number_of_raters(tmp_path):
    items, _ = preserved()
    study = HumanStudy(label_preservation=LabelPreservation(dataset="d", raters=2))
    header = "item_id,similarity"
    body = "\n".join(f"{i},0" for i in items["item_id"])
    one = sheet(tmp_path, body, "a.csv", header)
    assert "4 of 4 similarity items have fewer than 2 raters" in problems([one], items, study)[0]
    two = sheet(tmp_path, body.replace(",0", ",5"), "b.csv", header)
    assert len(read_ratings([one, two], items, study=study).frame) == 8
    halves = [sheet(tmp_path, "\n".join(f"{i},3" for i in items["item_id"] if i.endswith(form)), name, header)
              for form in ("original", "rewritten") for name in (f"{form}1.csv", f"{form}2.csv")]  # fmt: skip
    (found,) = problems(halves, items, study)
    assert "2 pairs have fewer than 2 raters who rated both" in found
    wrong = sheet(tmp_path, body.replace(",0", ",6"), "c.csv", header)
    assert "off the scale" in problems([one, two, wrong], items, study)[0]
