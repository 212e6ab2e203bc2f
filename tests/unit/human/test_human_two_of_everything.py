"""A study with two of everything: datasets, languages, axes, raters who leave out different items."""

from __future__ import annotations

import json
import random
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from approved import approve

from stressbed.analyse.names import Names
from stressbed.config.entries import TransformationEntry
from stressbed.config.model import HumanStudy, LabelPreservation
from stressbed.errors import Problems
from stressbed.fingerprint import text_digest
from stressbed.human import study as studies
from stressbed.human.drift import cosine
from stressbed.human.export import export
from stressbed.human.ratings import read_ratings
from stressbed.human.sheets import as_text
from stressbed.stats.bootstrap import mean_interval
from stressbed.stats.units import Units, shared_units

CATALOGUE = Path(__file__).parents[3] / "config/catalogue/transformations.yaml"
CHOSEN = ("paraphrasing", "style_change", "expansion", "translation", "cross_translation")
ENTRIES = {
    e["id"]: TransformationEntry.model_validate(e)
    for e in yaml.safe_load(CATALOGUE.read_text(encoding="utf-8"))["transformations"]
    if e["id"] in CHOSEN
}
NAMES = Names(
    {}, {}, {}, {t: ENTRIES[t].label for t in CHOSEN}, {t: ENTRIES[t].axis for t in CHOSEN},
)  # fmt: skip
STUDY = HumanStudy(
    per_transformation=7, seed=3, raters=2, threshold=3.4, resamples=200,
    label_preservation=LabelPreservation(
        dataset="sts", transformations=["translation", "paraphrasing"], pairs=8, raters=1
    ),
)  # fmt: skip
SOURCES = ("eng-Latn", "deu-Latn")


def rewrites(root: Path, dataset: str, transformation: str) -> Path:
    """Write rewrites in two source and two target languages, two splits, with every outcome."""
    rows = []
    for i in range(19 if dataset == "sts" else 12):
        for side in (1, 2):
            rng = random.Random(f"{dataset} {transformation} {i} {side}")
            source = SOURCES[i % 3 == 0]
            drawn = ("fra-Latn", "swh-Latn")[i % 4 == 0] if "translation" in transformation else ""
            original = f"{dataset} sentence {side} of {i // (2 if side == 1 else 3)}"
            rows.append(
                {
                    "subset": "default", "split": ("test", "validation")[i % 5 == 0],
                    "field": f"sentence{side}", "row": str(i), "position": 0,
                    "text_id": 2 * i + side, "source_language": source,
                    "target_language": drawn, "original": original, "text": f"{transformation}: {original}",
                    "outcome": rng.choice([*["ok"] * 4, "flagged", "retried", "fallback", "dropped"]),
                }
            )  # fmt: skip
    path = root / "transforms" / dataset / "llm" / transformation / "1.parquet"
    path.parent.mkdir(parents=True)
    pd.DataFrame(rows).to_parquet(path)
    return path


def sts(root: Path) -> Path:
    """Write the scores of the pairs, from 1 to 4, in two splits."""
    folder = root / "datasets/sts"
    (folder / "data").mkdir(parents=True)
    tables = []
    for split, low in (("test", 1.0), ("validation", 1.3)):
        scores = [low + 0.14 * i for i in range(19)]
        pd.DataFrame({"score": scores}).to_parquet(folder / f"data/{split}.parquet")
        tables.append({"subset": "default", "split": split, "table": "rows", "path": f"data/{split}.parquet"})
    manifest = {"dataset": "sts", "task_type": "STR", "min_score": 1, "max_score": 4.2, "tables": tables}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    root = tmp_path_factory.mktemp("study")
    files = [rewrites(root, d, t) for d in ("sts", "topics") for t in CHOSEN]
    export(
        transforms=files, study=STUDY, transformations=ENTRIES, dataset_folders={"sts": sts(root)},
        folder=root / "out",
    )  # fmt: skip
    return root


def rated(items: pd.DataFrame, folder: Path) -> list[Path]:
    """Write the sheets of three raters; each leaves out other items, and means are far from medians."""
    files = []
    for k, rater in enumerate(("ann", "bob", "cleo")):
        rows = []
        for i, item in enumerate(items.to_dict("records")):
            rng = random.Random(f"{rater} {item['item_id']}")
            mean = {"expansion": 1.6, "paraphrasing": 4.0, "style_change": 3.1}.get(
                item["transformation"], 3.6
            )
            quality = max(1, min(5, round(mean + rng.choice([-1, 0, 0, 0, 1, 1]))))
            row = {"item_id": item["item_id"], "quality": "", "fluency": "", "similarity": ""}
            if item["kind"] == "similarity" and i % 13 == k:
                pass  # of a pair, one form is rated by fewer than the other
            elif item["kind"] == "similarity":
                said = round(item["gold"] + rng.choice([-1, 0, 0, 1, 2]))
                row["similarity"] = str(max(0, min(5, said)))
            elif i % 5 != k:
                row |= {
                    "quality": str(quality),
                    "fluency": str(max(1, min(5, quality + (rng.random() < 0.4)))),
                }
            rows.append(row)
        rows.append(rows[0])
        path = folder / f"{rater}.csv"
        pd.DataFrame(rows).to_csv(path, index=False)
        files.append(path)
    return files


@pytest.fixture(scope="module")
def analysed(exported):
    items = pd.read_parquet(exported / "out/items.parquet")
    files = rated(items, exported)
    drift = {i: random.Random(i).expovariate(3) for i in items.loc[items["kind"] == "quality", "item_id"]}
    held = pa.Table.from_pydict({"item_id": list(drift), "drift": list(drift.values())})
    described = held.replace_schema_metadata({studies.EMBEDDER: "An embedder"})
    pq.write_table(described, exported / "drift.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(studies, "save", lambda *a: None)
        studies.analyse_ratings(
            items=exported / "out/items.parquet", ratings=files, drift=exported / "drift.parquet",
            study=STUDY, names=NAMES, folder=exported / "done",
        )  # fmt: skip
    return exported, items, pd.read_parquet(exported / "done/ratings.parquet"), drift


def test_sheets_and_manifest_are_approved(exported):
    out = exported / "out"
    for name in ("manifest.json", "README.txt"):
        approve(f"human/{name}", (out / name).read_text(encoding="utf-8"))
    sheets = sorted(p for p in (out / "sheets").iterdir() if p.suffix == ".csv")
    found = "\n".join(f"{p.name}\n{p.read_text(encoding='utf-8-sig')}" for p in sheets)
    approve("human/sheets.txt", found.replace("\r", ""))
    pages = [p.read_text(encoding="utf-8") for p in sorted((out / "sheets").glob("*.html"))]
    shown = [page[page.index('id="sheet">') :][:2000] for page in pages[:: len(pages) - 1]]
    heads = [page[page.index("<title>") : page.index("</title>")] for page in pages]
    approve("human/forms.txt", "\n".join([*heads, *shown]))
    items = pd.read_parquet(out / "items.parquet")
    approve("human/items.csv", items.to_csv(index=False))


def test_every_table_is_approved(analysed):
    done = analysed[0] / "done"
    for path in sorted((done / "tables").iterdir()):
        if path.suffix in {".csv", ".md"}:
            approve(f"human/{path.name}", path.read_text(encoding="utf-8"))
    approve("human/summary.json", (done / "summary.json").read_text(encoding="utf-8"))
    points = (done / "figures/quality_vs_drift.csv").read_text(encoding="utf-8")
    approve("human/points.csv", points)


def test_means_and_spreads_are_those_of_plain_loops(analysed):
    folder, items, ratings, _ = analysed
    table = pd.read_csv(folder / "done/tables/human_ratings.csv").set_index(["source_language", "group"])
    place = items.set_index("item_id")
    for language in ("all", *SOURCES):
        for transformation in ("paraphrasing", "style_change", "expansion"):
            for criterion in ("quality", "fluency"):
                values = [
                    r["rating"] for r in ratings.to_dict("records")
                    if r["criterion"] == criterion
                    and place.loc[r["item_id"], "transformation"] == transformation
                    and language in ("all", place.loc[r["item_id"], "source_language"])
                ]  # fmt: skip
                row = table.loc[(language, transformation)]
                assert row[criterion] == pytest.approx(fmean(values), abs=1e-6)
                assert row[f"{criterion}_sd"] == pytest.approx(stdev(values), abs=1e-6)
                assert row[f"{criterion}_ratings"] == len(values)


def test_label_preservation_is_that_of_plain_loops(analysed):
    folder, items, ratings, _ = analysed
    table = pd.read_csv(folder / "done/tables/label_preservation.csv")
    languages = table.loc[table["target_language"] != "all", ["transformation", "target_language"]]
    assert languages.to_numpy().tolist() == [["translation", "fra-Latn"], ["translation", "swh-Latn"]]
    table = table.set_index(["transformation", "target_language"])
    both = {}
    place = items.set_index("item_id")
    for r in ratings[ratings["criterion"] == "similarity"].to_dict("records"):
        item = place.loc[r["item_id"]]
        key = (item["transformation"], item["target_language"], item["pair_id"], r["rater"])
        both.setdefault(key, {"gold": item["gold"]})[item["form"]] = r["rating"]
    rows = [
        ("paraphrasing", "all"),
        ("translation", "all"),
        ("translation", "fra-Latn"),
        ("translation", "swh-Latn"),
    ]
    assert list(table.index) == rows
    for transformation, language in rows:
        chosen = {k for k in both if k[0] == transformation and language in {"all", k[1]}}
        mine = [both[k] for k in both if k in chosen and len(both[k]) == 3]
        row = table.loc[transformation, language]
        apart = [abs(v["rewritten"] - v["original"]) for v in mine]
        assert row["mad"] == pytest.approx(fmean(apart), abs=1e-6)
        assert row["within_one"] == pytest.approx(100 * fmean(a <= 1 for a in apart), abs=1e-6)
        assert row["original"] == pytest.approx(fmean(v["original"] for v in mine), abs=1e-6)
        assert row["rewritten"] == pytest.approx(fmean(v["rewritten"] for v in mine), abs=1e-6)
        assert row["gold"] == pytest.approx(fmean(v["gold"] for v in mine), abs=1e-6)
        assert (row["n_ratings"], row["n_pairs"]) == (
            len(mine),
            len({k[2] for k in chosen}),
        )


def test_intervals_are_over_pairs_whatever_their_number_of_raters(analysed):
    folder, items, ratings, _ = analysed
    tables = [pd.read_csv(folder / f"done/tables/label_preservation{end}.csv") for end in ("", "_pairs")]
    first, second = (t[t["target_language"] == "all"].set_index("transformation") for t in tables)
    similar = ratings[ratings["criterion"] == "similarity"].set_index(["item_id", "rater"])["rating"]
    for transformation in ("translation", "paraphrasing"):
        held = items[(items["kind"] == "similarity") & (items["transformation"] == transformation)]
        ids = {(i["pair_id"], i["form"]): i for i in held.to_dict("records")}
        values: dict[tuple, list] = {}
        texts = []
        for pair in sorted({p for p, _ in ids}):
            forms = [ids[pair, form] for form in ("original", "rewritten")]
            given = [[similar.get((f["item_id"], r)) for f in forms] for r in ("ann", "bob", "cleo")]
            both = [g for g in given if None not in g]
            before, after = (fmean(side) for side in zip(*both, strict=True))
            gold = forms[0]["gold"]
            for what, value in (
                (("preservation",), fmean(abs(a - b) for a, b in both)),
                (("pairs", "rewritten", "original"), abs(after - before)),
                (("pairs", "rewritten", "gold"), abs(after - gold)),
                (("pairs", "original", "gold"), abs(before - gold)),
            ):
                values.setdefault(what, []).append(value)
            texts.append([forms[0]["text1"], forms[0]["text2"]])
        units = Units.of(shared_units(texts))
        for (table, *columns), of_pairs in values.items():
            chance = int(text_digest(table, transformation, *columns)[:16], 16)
            expected = mean_interval(
                np.array(of_pairs), resamples=200, rng=np.random.default_rng(chance), units=units
            )
            name = "_".join([*columns, ""])
            row = (second if columns else first).loc[transformation]
            mad = "mad_" if not columns else ""
            found = row[[f"{name}{mad}low", f"{name}{mad}high", "n_resampled"]].tolist()
            assert found == pytest.approx([expected.low, expected.high, units.n], abs=1e-6)
            assert expected.low < expected.high


def test_gold_scores_go_from_the_datasets_scale_to_0_to_5(analysed):
    _, items, _, _ = analysed
    held = items[items["kind"] == "similarity"]
    assert set(held["split"]) == {"test", "validation"}
    for item in held.to_dict("records"):
        score = (1.0 if item["split"] == "test" else 1.3) + 0.14 * int(item["row"])
        assert item["gold"] == pytest.approx((score - 1) / 3.2 * 5)


ITEMS = pd.DataFrame([{"item_id": f"q{i}", "kind": "quality"} for i in range(7)])
FORMS = pd.DataFrame({"kind": "similarity", "transformation": "t", "form": ["original", "rewritten"]})
ITEMS = pd.concat([ITEMS, *(FORMS.assign(pair_id=f"p{i}", item_id=FORMS["form"] + str(i)) for i in range(7))])


def sheet(folder: Path, name: str, rows: dict[str, tuple[str, str, str]]) -> Path:
    path = folder / name
    lines = ["item_id,quality,fluency,similarity", *(f"{i},{','.join(v)}" for i, v in rows.items())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def said(files, **study) -> str:
    with pytest.raises(Problems) as caught:
        read_ratings(files, ITEMS, study=HumanStudy(**study))
    return "\n".join(p.message() for p in caught.value.problems)


def test_items_with_too_few_raters_are_counted_by_how_many_they_have(tmp_path):
    all_of = {f"q{i}": ("3", "3", "") for i in range(7)}
    pairs = {f"{form}{i}": ("", "", "4") for i in range(7) for form in ("original", "rewritten")}
    files = [
        sheet(tmp_path, "a.csv", all_of | pairs),
        sheet(tmp_path, "b.csv", {f"q{i}": ("3", "" if i == 0 else "3", "") for i in range(1)} | pairs),
        sheet(tmp_path, "c.csv", {"q1": ("2", "2", ""), "q2": ("2", "2", "")}),
    ]
    found = said(files, raters=2)
    assert "5 of 7 quality items have fewer than 2 raters (5 have 1)" in found
    assert "items q0, q3, q4, q5, q6" in found
    assert " ..." not in found
    assert "7 of 7 quality items have fewer than 3 raters (5 have 1, 2 have 2)" in said(files, raters=3)
    assert "items q0, q1, q2, q3, q4 ..." in said(files, raters=3)


def test_only_raters_of_both_forms_count_for_a_pair(tmp_path):
    quality = {f"q{i}": ("3", "3", "") for i in range(7)}
    one = {f"original{i}": ("", "", "4") for i in range(7)} | {
        f"rewritten{i}": ("", "", "4") for i in range(2)
    }
    other = {f"rewritten{i}": ("", "", "4") for i in range(7)} | {"original6": ("", "", "1")}
    files = [sheet(tmp_path, "a.csv", quality | one), sheet(tmp_path, "b.csv", quality | other)]
    kept = {"dataset": "d", "transformations": ["t"], "raters": 1}
    found = said(files, raters=1, label_preservation=kept)
    assert "4 pairs have fewer than 1 raters who rated both" in found
    assert "pairs p2 (t), p3 (t), p4 (t), p5 (t)" in found


@pytest.mark.parametrize(
    ("rating", "wrong"),
    [("0", False), ("5", False), ("-1", True), ("6", True), ("5.0", False), ("5.5", True)],
)
def test_the_scale_of_similarity_has_both_its_ends(tmp_path, rating, wrong):
    rows = {f"q{i}": ("1", "5", "") for i in range(7)}
    pairs = {f"{form}{i}": ("", "", rating) for i in range(7) for form in ("original", "rewritten")}
    files = [sheet(tmp_path, "a.csv", rows | pairs)]
    if wrong:
        assert "off the scale" in said(files, raters=1) or "no whole number" in said(files, raters=1)
    else:
        frame = read_ratings(files, ITEMS, study=HumanStudy(raters=1)).frame
        assert set(frame.loc[frame["criterion"] == "similarity", "rating"]) == {int(float(rating))}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("true", "'true"), ("FALSE", "'FALSE"), ("truer", "truer"), ("1.5e3", "'1.5e3"), ("12:30", "'12:30"),
        ("a; =1", "a; '=1"), ("- a", "- a"), ("-a", "'-a"), ("a -b", "a -b"), ("+", "'+"),
        ("x\x0by", "x\ufffdy"),
        ("x\ty", "x\ty"), ("\uff1d1", "'\uff1d1"),
    ],
)  # fmt: skip
def test_cells_keep_what_was_written(text, shown):
    assert as_text(text) == shown


def test_more_than_five_pairs_are_named_with_dots(tmp_path):
    quality = {f"q{i}": ("3", "3", "") for i in range(7)}
    first = {f"original{i}": ("", "", "4") for i in range(7)}
    second = {f"rewritten{i}": ("", "", "4") for i in range(7)}
    kept = {"dataset": "d", "transformations": ["t"], "raters": 1}
    for n, dots in ((5, ""), (6, " ...")):
        both = {k: v for k, v in second.items() if int(k[-1]) >= n}
        files = [sheet(tmp_path, "a.csv", quality | first | both), sheet(tmp_path, "b.csv", second)]
        found = said(files, raters=1, label_preservation=kept)
        assert f"{n} pairs have fewer than 1 raters" in found
        assert f"pairs p0 (t), p1 (t), p2 (t), p3 (t), p4 (t){dots}" in found
        assert "p5" not in found


def test_a_cosine_of_opposite_directions_is_minus_one():
    found = cosine([[3, 4], [1, 2], [0, 0], [2, 1]], [[-6, -8], [2, -4], [1, 0], [1, 3]])
    assert found.tolist()[0] == -1.0
    assert found.tolist()[1] == pytest.approx(-0.6)
    assert found.tolist()[2] != found.tolist()[2]
    assert found.tolist()[3] == pytest.approx(5 / (5**0.5 * 10**0.5))
