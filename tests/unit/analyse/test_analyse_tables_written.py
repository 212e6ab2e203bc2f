import csv
import io
import json
import random
import shutil
import subprocess
from statistics import fmean

import pandas as pd
import pytest
from fabricate import EIGHT, FLAGS, make_plan, write_cells, write_transforms
from study_cases import made_names, made_scores

from stressbed.analyse import SUFFIXES, TABLES
from stressbed.analyse.descriptive.scores import hteb_scores
from stressbed.analyse.names import Names
from stressbed.analyse.run import analyse
from stressbed.analyse.table import Table
from stressbed.analyse.write import to_csv, to_latex, to_markdown
from stressbed.collect.cells import collect
from stressbed.collect.rewrites import rewrite_counts, rewrite_examples
from stressbed.paths import Variant


def nothing():
    return Names({"a": "Alpha_1", "b": "Beta"}, {}, {"llm": "llm"}, {}, {})


def table(**more):
    frame = pd.DataFrame({"embedder": ["a", "b"], "hteb": [70.04, 70.01], "drop": [-0.04, float("nan")]})
    marks = pd.DataFrame({"embedder": [False, False], "hteb": [False, True], "drop": [False, False]})
    return Table("t", "A title", frame, ["A note."], marks, {"hteb": "max", "drop": "min"}, **more)


def test_csv_holds_ids_and_numbers_only():
    assert to_csv(table().frame) == "embedder,hteb,drop\na,70.04,-0.04\nb,70.01,\n"
    assert to_csv(pd.DataFrame({"x": [1 / 3, -1e-9]})) == "x\n0.333333\n0.0\n"


def test_markdown_rounds_marks_and_sets_the_best_bold_to_the_shown_digits():
    text = to_markdown(table(), nothing())
    assert text.splitlines()[4:6] == [
        r"| Alpha\_1 | **70.0** | **0.0** |",
        "| Beta | 70.0† | – |",
    ]
    assert "A note." in text
    assert r"| Alpha\_1 | **70.04** | **−0.04** |" in to_markdown(table(decimals=2), nothing())


def test_a_marked_value_is_never_the_best_and_takes_it_from_no_other():
    frame = pd.DataFrame({"embedder": list("abc"), "hteb": [90.0, 70.0, 71.0]})
    marks = pd.DataFrame({"embedder": False, "hteb": [True, False, False]})
    made = Table("t", "T", frame, [], marks, {"hteb": "max"})
    assert [line.split("| ")[-1] for line in to_markdown(made, nothing()).splitlines()[4:7]] == [
        "90.0† |", "70.0 |", "**71.0** |",
    ]  # fmt: skip
    assert to_latex(made, nothing()).count(r"\textbf{") == 1


def test_each_part_of_a_run_has_a_best_value_of_its_own():
    frame = pd.DataFrame(
        {"generator": list("ggggh"), "setting": list("sstts"), "embedder": list("ababa"),
         "hteb": [90.0, 80.0, 60.0, 70.0, 50.0]}
    )  # fmt: skip
    made = Table("t", "T", frame, best={"hteb": "max"}, parts=("generator", "setting"))
    shown = [line.split("| ")[-1] for line in to_markdown(made, nothing()).splitlines()[4:9]]
    # One embedder alone in its part is no best of anything.
    assert shown == ["**90.0** |", "80.0 |", "60.0 |", "**70.0** |", "50.0 |"]
    rates = Table(
        "t", "T", pd.DataFrame({"generator": ["g", "h"], "total": [2.0, 1.0]}), best={"total": "min"}
    )
    assert "**1.0**" in to_markdown(rates, nothing())


def test_drops_are_not_bold_the_smallest_may_be_a_floor():
    names = made_names(("a", "b"), ("d0",))
    level = {"a": 2.0, "b": 80.0}
    scores = made_scores(names, lambda e, d, t, s: level[e] - (t != "original") * level[e] / 10)
    made = hteb_scores(scores, names)
    row = next(line for line in to_markdown(made, names).splitlines() if line.startswith("| a "))
    assert row == "| a | 2.0 | 1.8 | 1.8 | 1.8 | 1.8 | 0.2 |"
    assert any(n.startswith("Bold: the highest score") for n in made.notes)


def test_long_tables_are_cut_and_say_so():
    text = to_markdown(table(rows=1), nothing())
    assert "Beta" not in text
    assert "t.csv has 1 more" in text


def test_control_characters_of_texts_do_not_reach_markdown_and_latex():
    found = Table("t", "T", pd.DataFrame({"text": ["nul\x00 bell\x07 escape\x1b[0m next\x85line"]}))
    for written in (to_markdown(found, nothing()), to_latex(found, nothing())):
        assert "nul bell escape" in written
        assert not [c for c in written if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160]
    assert "nul\x00 bell" in to_csv(found.frame)


def test_latex_escapes_what_texts_may_hold():
    frame = pd.DataFrame({"text": ["50% of {x}_1 & \\more ~ ^ # $", "two\nlines | bar"], "hteb": [-1.0, 2.0]})
    tex = to_latex(Table("t", "T", frame), nothing())
    assert (
        r"50\% of \{x\}\_1 \& \textbackslash{}more \textasciitilde{} \textasciicircum{} \# \$ & $-$1.0" in tex
    )
    assert "two lines | bar & 2.0" in tex
    assert tex.count(r"\begin{") == tex.count(r"\end{") == 2
    assert r"two lines \| bar" in to_markdown(Table("t", "T", frame), nothing())


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs latex: pdflatex is not installed")
def test_latex_compiles(tmp_path, analysed):
    """All tables of a run in one document, and one of many rows, columns and sentences."""
    folder, _ = analysed
    wide = pd.DataFrame({f"c{i}": [1.0] * 1500 for i in range(11)} | {"text": ["word " * 60] * 1500})
    bodies = [p.read_text() for p in sorted(folder.glob("*.tex"))]
    bodies += [to_latex(table(), nothing()), to_latex(Table("wide", "Wide", wide), nothing())]
    packages = r"\usepackage{booktabs,longtable}\extrafloats{200}"
    document = rf"\documentclass{{article}}{packages}\begin{{document}}" + "\\clearpage\n".join(bodies)
    (tmp_path / "t.tex").write_text(document + r"\end{document}")
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "t.tex"], cwd=tmp_path, check=False, capture_output=True, text=True,
        errors="replace",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert len(bodies) > 30


def test_flag_rates_count_texts_and_not_flags(tmp_path):
    plan = make_plan(tmp_path, transformations=("expansion", "translation"), seeds=(1, 2))
    both = {"identical": True, "wrong_language": True, "outcome": "flagged"}
    files = [
        write_transforms(plan, "pairs", Variant("llm", "expansion", 1), [both, {}, {}, {}]),
        write_transforms(
            plan, "pairs", Variant("llm", "expansion", 2), [{"empty": True, "outcome": "fallback"}, {}]
        ),
        write_transforms(
            plan, "topics", Variant("llm", "translation", 1), [{"target_language": "fra-Latn"}] * 3
        ),
    ]
    from stressbed.analyse.descriptive.rewrites import flag_rates, outcomes

    counts = rewrite_counts(files)
    assert counts["n_texts"].sum() == 9
    names = Names.of(plan)
    rates = flag_rates(counts, names, by="transformation").frame.set_index("transformation")
    assert list(rates.columns) == ["n_distinct", "n_texts", *FLAGS, "total"]
    assert rates.loc[
        "expansion", ["identical", "wrong_language", "empty", "total"]
    ].tolist() == pytest.approx([100 / 6, 100 / 6, 100 / 6, 200 / 6])
    assert rates.loc["translation", "total"] == 0
    languages = flag_rates(counts, names, by="target_language").frame
    assert languages[["target_language", "n_texts"]].to_numpy().tolist() == [["eng-Latn", 6], ["fra-Latn", 3]]
    whole = flag_rates(counts, names, by="generator").frame
    assert whole["generator"].tolist() == ["llm"]
    assert whole["total"].tolist() == pytest.approx([200 / 9])
    table = outcomes(counts, names).frame.set_index(["dataset", "transformation"])
    told = ["n_distinct", "n_texts", "ok", "flagged", "fallback", "with_flags"]
    assert table.loc[("pairs", "expansion"), told].tolist() == [3, 6, 4, 1, 1, 2]
    assert table.loc[("topics", "translation"), told].tolist() == [1, 3, 3, 0, 0, 0]
    assert table.loc[("pairs", "expansion"), ["tokens_in", "tokens_out"]].tolist() == [60, 30]


def test_examples_are_drawn_by_seed_and_not_by_order(tmp_path):
    plan = make_plan(tmp_path, transformations=("translation",), seeds=(1, 2))
    texts = [
        {"original": f"o{i}", "text": f"t{i}", "target_language": ("fra-Latn", "deu-Latn")[i % 2]}
        for i in range(40)
    ]
    files = [write_transforms(plan, "pairs", v, texts) for v in plan.rewrites]
    first = rewrite_examples(files, seed=7)
    assert first["language"].tolist() == ["deu-Latn", "fra-Latn"]
    assert first.equals(rewrite_examples(files[::-1], seed=7))
    assert len({tuple(rewrite_examples(files, seed=s)["text_id"]) for s in range(8)}) > 3
    row = first.iloc[0]
    assert (row["original"], row["text"]) == (f"o{row['text_id']}", f"t{row['text_id']}")


@pytest.fixture
def analysed(tmp_path):
    plan = make_plan(tmp_path, labels={"alpha": "The A"})

    def score(c):
        if c == lost:
            return None
        if c.variant.is_original:
            return 80.0
        fallbacks = 5 if c.variant.transformation == "expansion" else 0
        return {"score": 60.0 + list(EIGHT).index(c.variant.transformation), "fallbacks": fallbacks}

    from stressbed.paths import Cell

    lost = Cell("beta", "pairs", Variant("llm", "translation", 2))
    write_cells(plan, score)
    rows = [{"original": "a | b", "text": "c\nd"}, {"prefix_leak": True, "outcome": "flagged"}]
    transforms = [write_transforms(plan, d, v, rows) for d in plan.config.datasets for v in plan.rewrites]
    scores = plan.run_folder / "scores.parquet"
    collect(plan=plan, scores_out=scores, items_out=plan.run_folder / "items.parquet")
    folder = plan.run_folder / "tables"
    written = analyse(plan=plan, scores=scores, transforms=transforms, folder=folder)
    return folder, written


def test_a_run_gives_all_tables_in_all_formats(analysed):
    folder, written = analysed
    assert {p.name for p in written} == {f"{t}.{s}" for t in TABLES for s in SUFFIXES}
    assert {p.name for p in folder.iterdir()} == {p.name for p in written}
    head = (folder / "hteb_scores.csv").read_text().splitlines()
    assert head[0] == "embedder,original,lexical_stylistic,length,language,hteb,drop"
    assert head[1].startswith("alpha,80.0,61.0,64.0,66.5,63.833333,16.166667")
    assert head[2] == "beta,80.0,61.0,64.0,,,"
    text = (folder / "hteb_scores.md").read_text()
    assert "| The A | **80.0** | **61.0** | 64.0† | **66.5** | 63.8† | 16.2† |" in text
    assert "incomplete_cells.csv" in text
    common = (folder / "hteb_scores_common.csv").read_text().splitlines()
    assert common[2].startswith("beta,80.0,61.0,64.0,66.5")
    assert "Left out: pairs" in (folder / "hteb_scores_common.md").read_text()
    missing = list(csv.DictReader(io.StringIO((folder / "incomplete_cells.csv").read_text())))
    assert [(r["embedder"], r["dataset"], r["transformation"], r["status"]) for r in missing] == [
        ("beta", "pairs", "translation", "missing")
    ]


@pytest.mark.parametrize("seeds", [(1, 2), (2, 1)])
def test_a_rewrite_of_two_seeds_counts_with_the_first_of_the_config(tmp_path, seeds):
    plan = make_plan(tmp_path, transformations=("expansion",), datasets={"x": {}}, seeds=seeds)
    write_cells(plan, lambda _: 50.0)
    scores = plan.run_folder / "scores.parquet"
    collect(plan=plan, scores_out=scores, items_out=plan.run_folder / "items.parquet")
    # One answer to many texts is seen within a seed only.
    transforms = [write_transforms(plan, "x", v, [{"repeated": v.seed == 2}]) for v in plan.rewrites]
    folder = plan.run_folder / "tables"
    analyse(plan=plan, scores=scores, transforms=transforms, folder=folder)
    (row,) = csv.DictReader((folder / "outcomes.csv").open())
    assert (row["n_texts"], row["n_distinct"], row["repeated"]) == ("2", "1", str(int(seeds[0] == 2)))


def test_no_value_in_a_csv_is_a_dagger_or_a_dash(analysed):
    folder, _ = analysed
    for path in folder.glob("*.csv"):
        assert "†" not in path.read_text()
        assert "–" not in path.read_text()


def test_a_changed_label_or_order_is_noticed_and_a_colour_is_not(tmp_path):
    plain = Names.of(make_plan(tmp_path)).fingerprint()
    assert Names.of(make_plan(tmp_path)).fingerprint() == plain
    assert Names.of(make_plan(tmp_path, colours={"length": "#000000"})).fingerprint() == plain
    assert Names.of(make_plan(tmp_path, labels={"alpha": "A"})).fingerprint() != plain
    assert Names.of(make_plan(tmp_path, embedders=("beta", "alpha"))).fingerprint() != plain


def test_the_csv_equals_plain_loops_over_the_cell_files(tmp_path):
    """From the files of cells to the published table, against means taken with the standard library."""
    plan = make_plan(tmp_path, datasets={"x": {}, "y": {}, "z": {}})
    rng = random.Random(5)
    write_cells(plan, lambda c: rng.uniform(20, 90))
    scores = plan.run_folder / "scores.parquet"
    collect(plan=plan, scores_out=scores, items_out=plan.run_folder / "items.parquet")
    folder = plan.run_folder / "tables"
    analyse(plan=plan, scores=scores, transforms=[], folder=folder)
    table = {r["embedder"]: r for r in csv.DictReader((folder / "hteb_scores.csv").open())}
    for embedder in ("alpha", "beta"):

        def score(dataset, variant, embedder=embedder):
            return json.loads((tmp_path / "scores" / embedder / dataset / f"{variant}.json").read_text())[
                "score"
            ]

        original = fmean(score(d, "none/original/0") for d in "xyz")
        axes = []
        for axis in ("lexical_stylistic", "length", "language"):
            members = [t for t, (_, a) in EIGHT.items() if a == axis]
            seeds = {(t, d): fmean(score(d, f"llm/{t}/{s}") for s in (1, 2)) for t in members for d in "xyz"}
            axes.append(fmean(fmean(seeds[t, d] for d in "xyz") for t in members))
            assert float(table[embedder][axis]) == pytest.approx(axes[-1], abs=1e-6)
        assert float(table[embedder]["original"]) == pytest.approx(original, abs=1e-6)
        assert float(table[embedder]["hteb"]) == pytest.approx(fmean(axes), abs=1e-6)
        assert float(table[embedder]["drop"]) == pytest.approx(original - fmean(axes), abs=1e-6)
