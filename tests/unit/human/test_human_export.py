"""Sheets as spreadsheets see them, the draw, the key, the form."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
import yaml
from approved import approve

from stressbed.check import load_run
from stressbed.config.entries import TransformationEntry
from stressbed.config.load import read_config
from stressbed.config.model import HumanStudy, LabelPreservation
from stressbed.errors import DataError
from stressbed.human.export import export
from stressbed.human.form import form
from stressbed.human.sample import draw_items, groups_of
from stressbed.human.sheets import Sheet, as_text
from stressbed.workflow.human import HumanGrid

ROOT = Path(__file__).parents[3]

AWKWARD = [
    '=HYPERLINK("http://example.org","x")',
    "+49 30 1234567",
    "-1+1",
    "@SUM(A1:A2)",
    'She said "no", twice.\nThen; she left,\tquietly.',
    "x;=1+1",
    "</script><script>document.title='broken'</script><!-- <b>",
    "هذا نص عربي مع كلمة English (و أقواس).",
    "שלום עולם",
    "1e5",
    "001",
    "👍🏽 emoji only 👩‍👩‍👧",
    "'quoted",
    "=1+1\r\n=2+2",
]


def entries() -> dict[str, TransformationEntry]:
    """Return the shipped transformations."""
    text = (ROOT / "config/catalogue/transformations.yaml").read_text(encoding="utf-8")
    return {e["id"]: TransformationEntry.model_validate(e) for e in yaml.safe_load(text)["transformations"]}


def rewrites(root: Path, dataset: str, transformation: str, rows: list[dict[str, object]]) -> Path:
    """Write a file of rewrites; what a row leaves out has a plain value."""
    plain = {"subset": "default", "split": "test", "field": "text", "position": 0, "side": "both"}
    plain |= {"source_language": "eng-Latn", "target_language": "", "outcome": "ok", "identical": False}
    frame = pd.DataFrame([plain | {"text_id": i, "row": str(i)} | row for i, row in enumerate(rows)])
    path = root / "transforms" / dataset / "fake" / transformation / "1.parquet"
    path.parent.mkdir(parents=True)
    frame.to_parquet(path)
    return path


def plain(n: int, start: int = 0, **more: object) -> list[dict[str, object]]:
    return [{"original": f"text {i}", "text": f"rewrite {i}", **more} for i in range(start, start + n)]


def exported(
    files: list[Path],
    folder: Path,
    study: HumanStudy | None = None,
    dataset_folders: dict[str, Path] | None = None,
) -> dict[str, Any]:
    """Export sheets with the shipped transformations and return the manifest."""
    return export(
        transforms=files,
        study=study or HumanStudy(),
        transformations=entries(),
        dataset_folders=dataset_folders or {},
        folder=folder,
    )


def awkward(folder: Path) -> Path:
    """Export one sheet of the awkward texts and return its CSV."""
    rows = [{"original": t, "text": t} for t in AWKWARD]
    path = rewrites(folder, "d", "paraphrasing", rows)
    exported([path], folder / "out")
    return folder / "out/sheets/quality_paraphrasing_eng-Latn.csv"


def test_fallbacks_and_drops_are_left_out_copies_stay(tmp_path: Path) -> None:
    rows = plain(6)
    rows[0]["outcome"], rows[1]["outcome"], rows[2]["identical"] = "fallback", "dropped", True
    path = rewrites(tmp_path, "d", "paraphrasing", rows)
    found = exported([path], tmp_path / "out")
    items = pd.read_parquet(tmp_path / "out/items.parquet")
    assert set(items["original"]) == {f"text {i}" for i in range(2, 6)}
    assert found["groups"]["paraphrasing"] == {"asked": 100, "drawn": 4, "fallbacks": 1, "dropped": 1}


def test_the_draw_is_seeded_and_stable_under_another_dataset(tmp_path: Path) -> None:
    a = rewrites(tmp_path, "a", "paraphrasing", plain(200))
    b = rewrites(tmp_path, "b", "paraphrasing", plain(200, 200))
    study = HumanStudy(per_transformation=50)
    alone, again, both = (
        draw_items(files, study=study, transformations=entries()) for files in ([a], [a], [b, a])
    )
    other = draw_items([a], study=HumanStudy(per_transformation=50, seed=1), transformations=entries())
    assert alone.equals(again)
    assert set(other["item_id"]) != set(alone["item_id"])
    assert len(both) == 50
    assert set(both["item_id"][both["dataset"] == "a"]) < set(alone["item_id"])
    assert 10 <= (both["dataset"] == "b").sum() <= 40


def test_translations_are_pooled_and_stratified(tmp_path: Path) -> None:
    codes = ["deu-Latn", "arb-Arab", "tur-Latn"]
    translated = rewrites(tmp_path, "d", "translation", plain(60, target_language="deu-Latn"))
    crossed = [r | {"target_language": codes[i % 3]} for i, r in enumerate(plain(60, 60))]
    cross = rewrites(tmp_path, "d", "cross_translation", crossed)
    study = HumanStudy(per_transformation=15)
    items = draw_items([translated, cross], study=study, transformations=entries())
    assert set(items["group"]) == {"translation+cross_translation"}
    assert items["target_language"].value_counts().to_dict() == dict.fromkeys(codes, 10)
    short = draw_items(
        [translated, cross], study=HumanStudy(per_transformation=30), transformations=entries()
    )
    assert short["target_language"].value_counts().to_dict() == dict.fromkeys(codes, 20)
    more = draw_items([translated, cross], study=HumanStudy(per_transformation=40), transformations=entries())
    assert more["target_language"].value_counts().to_dict() == {
        "deu-Latn": 40,
        "arb-Arab": 20,
        "tur-Latn": 20,
    }


@pytest.mark.parametrize(
    ("sizes", "asked", "drawn"),
    [
        ([2, 12, 40], 3, [1, 1, 1]),
        ([2, 12, 40], 5, [2, 2, 1]),
        ([2, 12, 40], 30, [2, 12, 16]),
        ([2, 12, 40], 54, [2, 12, 40]),
        ([2, 12, 40], 60, [2, 12, 40]),
        ([20, 1, 20, 20], 11, [4, 1, 3, 3]),
    ],
)
def test_what_a_language_lacks_is_taken_from_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, sizes: list[int], asked: int, drawn: list[int]
) -> None:
    """One at a time from the language with the fewest so far, so that no two differ by more than one."""
    tags = ["arb-Arab", "deu-Latn", "tur-Latn", "zho-Hans"][: len(sizes)]
    languages = [tag for tag, n in zip(tags, sizes, strict=True) for _ in range(n)]
    rows = [r | {"target_language": t} for r, t in zip(plain(len(languages)), languages, strict=True)]
    path = rewrites(tmp_path, "d", "cross_translation", rows)
    study = HumanStudy(per_transformation=asked)
    items = draw_items([path], study=study, transformations=entries())
    assert items["target_language"].value_counts().reindex(tags).tolist() == drawn
    short = f"cross_translation: {sum(sizes)} rewrites to rate instead of {asked}: there are no more"
    assert (short in caplog.text) == (asked > sum(sizes))
    assert ("rewrites to rate instead" in caplog.text) == (asked > sum(sizes))


def test_groups_are_the_shipped_transformations() -> None:
    found = groups_of(["cross_translation", "translation", "backtranslation"], entries())
    assert found == {
        "backtranslation": ["backtranslation"],
        "translation+cross_translation": ["translation", "cross_translation"],
    }


def test_no_original_twice_and_only_the_languages_asked_for(tmp_path: Path) -> None:
    rows = plain(3) + plain(3) + plain(2, 9, source_language="spa-Latn")
    path = rewrites(tmp_path, "d", "paraphrasing", rows)
    study = HumanStudy(source_languages=["eng-Latn"])
    items = draw_items([path], study=study, transformations=entries())
    assert sorted(items["original"]) == ["text 0", "text 1", "text 2"]


def test_nothing_to_rate_is_an_error(tmp_path: Path) -> None:
    path = rewrites(tmp_path, "d", "paraphrasing", plain(3, outcome="fallback"))
    with pytest.raises(DataError, match="nothing to rate"):
        exported([path], tmp_path)


def test_the_files_are_the_same_bytes_again(tmp_path: Path) -> None:
    first, second = awkward(tmp_path / "1").parents[1], awkward(tmp_path / "2").parents[1]
    names = sorted(p.relative_to(first) for p in first.rglob("*") if p.is_file())
    assert len(names) == 5
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name


def test_csv_has_mark_crlf_and_every_text(tmp_path: Path) -> None:
    data = awkward(tmp_path).read_bytes()
    assert data.startswith(b"\xef\xbb\xbfitem_id,task,original,rewrite,quality,fluency,comment\r\n")
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert sorted(r["original"] for r in rows) == sorted(as_text(t) for t in AWKWARD)
    assert all(re.fullmatch("t[0-9a-f]{10}", r["item_id"]) for r in rows)


@pytest.mark.parametrize("text", ["=1", " =1", "+1", "@a", "-1", "x;=1", "x\n=1", "x\t@a", "\uff1d1"])
def test_a_formula_is_text(text: str) -> None:
    assert not re.search(r"(^|[;\t\n])\s*[=@+\-\uff1d]", as_text(text))


@pytest.mark.parametrize("text", ["001", "1e5", "1/2", "2024-01-02", "TRUE", "50 %", "12:30"])
def test_a_number_stays_as_it_is_written(text: str) -> None:
    assert as_text(text) == f"'{text}"


@pytest.mark.parametrize(
    "text", ["a = b", "10 e-mails", "eee", "- a point", "x;\n- a point", "a-b", "'a'", "e-mail@home"]
)
def test_other_texts_stay(text: str) -> None:
    assert as_text(text) == text


def fill(path: Path) -> dict[str, tuple[int, int]]:
    """Fill a sheet in XLSX and return the ratings; no cell may be a formula."""
    book = openpyxl.load_workbook(path)
    page = book.worksheets[0]
    names = [c.value for c in page[1]]
    given = {}
    for number, row in enumerate(page.iter_rows(min_row=2)):
        assert all(c.data_type != "f" for c in row), [c.value for c in row]
        given[str(row[0].value)] = (1 + number % 5, 5 - number % 5)
        row[names.index("quality")].value, row[names.index("fluency")].value = given[str(row[0].value)]
    book.save(path)
    return given


def ratings(rows: list[dict[str, str]]) -> dict[str, tuple[int, int]]:
    return {r["item_id"]: (int(r["quality"]), int(r["fluency"])) for r in rows}


def convert(path: Path, what: str, profile: Path) -> None:
    subprocess.run(
        [
            "soffice",
            f"-env:UserInstallation=file://{profile}",
            "--headless",
            "--infilter=CSV:44,34,76,1",
            "--convert-to",
            what,
            "--outdir",
            str(path.parent),
            str(path),
        ]
        if path.suffix == ".csv"
        else [
            "soffice",
            f"-env:UserInstallation=file://{profile}",
            "--headless",
            "--convert-to",
            what,
            "--outdir",
            str(path.parent),
            str(path),
        ],
        check=True,
        capture_output=True,
        timeout=180,
    )


@pytest.mark.skipif(shutil.which("soffice") is None, reason="needs libreoffice: soffice is not installed")
def test_libreoffice_and_back(tmp_path: Path) -> None:
    sheet = awkward(tmp_path)
    convert(sheet, "xlsx", tmp_path / "profile")
    book = sheet.with_suffix(".xlsx")
    given = fill(book)
    page = openpyxl.load_workbook(book).worksheets[0]
    shown = {str(c.value).replace("\r", "") for c in page["C"][1:]}
    assert shown == {as_text(t).replace("\r", "") for t in AWKWARD}
    sheet.unlink()
    convert(book, "csv:Text - txt - csv (StarCalc):59,34,76,1", tmp_path / "profile")
    with sheet.open(encoding="utf-8-sig", newline="") as f:
        rows = list(csv.DictReader(f, delimiter=";"))
    assert ratings(rows) == given
    assert set(given) == set(pd.read_parquet(tmp_path / "out/items.parquet")["item_id"])


@pytest.mark.parametrize(
    ("delimiter", "encoding"), [(";", "utf-8-sig"), ("\t", "utf-16"), (",", "utf-8-sig")]
)
def test_excel_and_back(tmp_path: Path, delimiter: str, encoding: str) -> None:
    """What Excel does on saving: cells to text, delimiter of the locale, encoding of the file type."""
    with awkward(tmp_path).open(encoding="utf-8-sig", newline="") as f:
        cells = list(csv.reader(f))
    book = openpyxl.Workbook()
    for row in cells:
        book.active.append(row)
    book.save(tmp_path / "sheet.xlsx")
    given = fill(tmp_path / "sheet.xlsx")
    page = openpyxl.load_workbook(tmp_path / "sheet.xlsx").active
    out = tmp_path / "saved.csv"
    with out.open("w", encoding=encoding, newline="") as f:
        csv.writer(f, delimiter=delimiter).writerows(page.iter_rows(values_only=True))
    with out.open(encoding=encoding, newline="") as f:
        assert ratings(list(csv.DictReader(f, delimiter=delimiter))) == given


def test_no_text_breaks_out_of_the_form() -> None:
    items = tuple({"item_id": f"t{i}", "task": t, "original": t, "rewrite": t} for i, t in enumerate(AWKWARD))
    page = form(Sheet("s", "quality", ("eng-Latn",), items))
    assert page.count("</script>") == 2
    assert "http://" not in page.replace("http://example.org", "")
    data = re.search(r'id="sheet">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    assert [i["original"] for i in json.loads(data[1])["items"]] == AWKWARD


def sts(root: Path, task_type: str = "STS") -> Path:
    """Write a frozen STS dataset of eight pairs, scored 0 to 10."""
    folder = root / "datasets/sts"
    (folder / "data").mkdir(parents=True)
    pd.DataFrame({"score": [float(i) for i in range(8)]}).to_parquet(folder / "data/rows.parquet")
    table = {"subset": "default", "split": "test", "table": "rows", "path": "data/rows.parquet", "rows": 8}
    manifest = {"dataset": "sts", "task_type": task_type, "min_score": 0, "max_score": 10}
    (folder / "manifest.json").write_text(json.dumps(manifest | {"tables": [table]}))
    return folder


def paired(root: Path, transformation: str, *, lost: int, **more: object) -> Path:
    rows: list[dict[str, object]] = [
        {"field": f, "row": str(r), "original": f"{f} {r}", "text": f"new {f} {r}", **more}
        for r in range(8)
        for f in ("sentence1", "sentence2")
    ]
    rows[2 * lost]["outcome"] = "fallback"
    return rewrites(root, "sts", transformation, rows)


def test_pairs_are_rated_in_both_forms(tmp_path: Path) -> None:
    files = [
        paired(tmp_path, "paraphrasing", lost=7),
        paired(tmp_path, "translation", lost=6, target_language="deu-Latn"),
    ]
    kept = LabelPreservation(dataset="sts", transformations=["paraphrasing", "translation"], pairs=5)
    out = tmp_path / "out"
    found = exported(files, out, HumanStudy(label_preservation=kept), {"sts": sts(tmp_path)})
    items = pd.read_parquet(out / "items.parquet").query("kind == 'similarity'")
    assert found["pairs"] == {
        "paraphrasing": {"asked": 5, "drawn": 5, "target_languages": {}},
        "translation": {"asked": 5, "drawn": 5, "target_languages": {"deu-Latn": 5}},
    }
    assert items.groupby(["transformation", "pair_id"])["form"].agg(sorted).map(tuple).unique().tolist() == [
        ("original", "rewritten")
    ]
    assert (items["gold"] == items["row"].astype(int) / 2).all()
    rewritten = items[items["form"] == "rewritten"]
    assert (rewritten["text2"] == "new sentence2 " + rewritten["row"]).all()
    sheet = (out / "sheets/similarity_translation_eng-Latn_deu-Latn.csv").read_text("utf-8-sig")
    assert sheet.splitlines()[0] == "item_id,text1,text2,similarity,comment"
    assert sheet.count("\n") == 11
    assert "gold" not in sheet
    assert "pair_id" not in sheet


def test_pairs_are_spread_over_the_languages_that_seeds_drew(tmp_path: Path) -> None:
    """Under one seed all pairs have one target language; each is rated once, in the one with fewest."""
    one = paired(tmp_path / "1", "translation", lost=6, target_language="deu-Latn")
    two = paired(tmp_path / "2", "translation", lost=2, target_language="fra-Latn")
    three = paired(tmp_path / "3", "translation", lost=0, target_language="deu-Latn")
    mixed = paired(tmp_path / "4", "cross_translation", lost=0, target_language="spa-Latn")
    apart = pd.read_parquet(mixed)
    apart.loc[[2, 4], "target_language"] = "arb-Arab"  # the first sentences of two pairs
    apart.to_parquet(mixed)
    further = [p.rename(p.with_name(f"{n}.parquet")) for n, p in ((2, two), (3, three))]
    kept = LabelPreservation(dataset="sts", transformations=["translation", "cross_translation"], pairs=7)
    out = tmp_path / "out"
    found = export(
        transforms=[one, mixed], study=HumanStudy(label_preservation=kept), transformations=entries(),
        dataset_folders={"sts": sts(tmp_path)}, folder=out, further=further,
    )  # fmt: skip
    assert found["pairs"] == {
        "translation": {"asked": 7, "drawn": 7, "target_languages": {"deu-Latn": 4, "fra-Latn": 3}},
        # One lost a sentence, two have one in another language.
        "cross_translation": {"asked": 7, "drawn": 5, "target_languages": {"spa-Latn": 5}},
    }
    items = pd.read_parquet(out / "items.parquet").query("kind == 'similarity'")
    assert set(items.groupby(["transformation", "pair_id"])["target_language"].nunique()) == {1}
    assert items["item_id"].is_unique
    assert set(items.loc[items["row"] == "6", "target_language"]) <= {"fra-Latn", "spa-Latn"}
    names = {p.name for p in (out / "sheets").glob("similarity_translation_*.csv")}
    assert names == {
        "similarity_translation_eng-Latn_deu-Latn.csv", "similarity_translation_eng-Latn_fra-Latn.csv"
    }  # fmt: skip
    # Quality is rated on the first seed's rewrites alone.
    quality = pd.read_parquet(out / "items.parquet").query(
        "kind == 'quality' and transformation == 'translation'"
    )
    assert set(quality["target_language"]) == {"deu-Latn"}


def test_further_seeds_are_read_where_a_language_is_drawn() -> None:
    plan = load_run(read_config(ROOT / "config" / "hteb-english.yaml"), base=ROOT)
    of_pairs = [p.split("/")[-4:] for p in HumanGrid(plan).further_transforms()]
    gemma = "gemma-3-27b-it-int4-awq"
    assert of_pairs == [["stsbenchmark", gemma, "translation", f"{s}.parquet"] for s in (1338, 1339)]
    assert {p.split("/")[-1] for p in HumanGrid(plan).transforms()} == {"1337.parquet"}


def test_pairs_need_an_sts_dataset(tmp_path: Path) -> None:
    kept = LabelPreservation(dataset="sts", transformations=["paraphrasing"])
    files = [paired(tmp_path, "paraphrasing", lost=0)]
    with pytest.raises(DataError, match="Retrieval"):
        exported(
            files, tmp_path / "out", HumanStudy(label_preservation=kept), {"sts": sts(tmp_path, "Retrieval")}
        )


def test_every_message_is_approved(tmp_path: Path) -> None:
    one = rewrites(tmp_path / "1", "d", "paraphrasing", plain(3))
    two = rewrites(tmp_path / "2", "d", "paraphrasing", plain(3))
    lost = rewrites(tmp_path / "3", "d", "expansion", plain(3, outcome="fallback"))
    kept = LabelPreservation(dataset="sts", transformations=["paraphrasing", "expansion", "translation"])
    pairs = [paired(tmp_path / "4", "paraphrasing", lost=0)]
    further = paired(tmp_path / "5", "paraphrasing", lost=0, row="99")
    alone = kept.model_copy(update={"transformations": ["paraphrasing"]})
    folders = {"sts": sts(tmp_path)}
    calls = [
        ([one, two], HumanStudy(), {}),
        ([lost], HumanStudy(), {}),
        ([one], HumanStudy(source_languages=["deu-Latn", "fra-Latn"]), {}),
        (pairs, HumanStudy(label_preservation=kept), folders),
        ([further], HumanStudy(label_preservation=alone), folders),
        (pairs, HumanStudy(label_preservation=alone), {"sts": sts(tmp_path / "6", "Retrieval")}),
    ]
    found = []
    for files, study, data in calls:
        with pytest.raises(DataError) as caught:
            exported(files, tmp_path / "out", study, data)
        found.append(caught.value.message())
    approve("human/faults_of_export.txt", "\n".join(found).replace(str(tmp_path), "FOLDER") + "\n")
