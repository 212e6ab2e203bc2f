"""A selection with two of everything: subsets, splits, unequal transformations, a guest who judges."""

from __future__ import annotations

import json
import random
from statistics import fmean

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from approved import approve
from scipy.stats import spearmanr

from stressbed.analyse.names import Names
from stressbed.config.entries import SelectionEntry
from stressbed.generate.asking import Tally
from stressbed.select import crossover
from stressbed.select.judge import SCHEMA, Read, _counted
from stressbed.select.sample import sample_texts
from stressbed.select.screening import screen, shortlist
from stressbed.stats.bootstrap import Comparison
from stressbed.stats.interval import Interval
from stressbed.transform.flags import FLAGS
from stressbed.transform.run import SCHEMA as TRANSFORM_SCHEMA

GENERATORS, JUDGES = ["poor", "fair", "good"], ["poor", "fair", "good", "guest"]
SIZES = {"longer": 13, "shorter": 6}
NAMES = Names({}, {}, {g: g.title() for g in JUDGES}, {t: t.title() for t in SIZES}, {})
REASONS = ("too_long", "refused", "unparsable", "filtered")
WORTH = {"good": 0.9, "fair": 0.78, "poor": 0.3}


def made_ratings():
    """Yield skewed ratings; rows are known by subset, split and number together, some are missing."""
    for judge in JUDGES:
        for generator in GENERATORS:
            for transformation, n in SIZES.items():
                for i in range(n):
                    for side in range(2):
                        rng = random.Random(f"{judge} {generator} {transformation} {i} {side}")
                        kind = 0.3 if judge == "guest" else 0.15 * (judge == generator)
                        hidden = rng.random() < (0.12 if judge == "fair" else 0.02)
                        value = 1 + min(4, int(rng.expovariate(1.1) * 4 * (WORTH[generator] + kind)))
                        yield {
                            **dict.fromkeys(SCHEMA.names), "judge": judge, "generator": generator,
                            "transformation": transformation, "subset": ("a", "b")[i % 2],
                            "split": ("test", "validation")[i % 3 == 0], "row": str(i // 4),
                            "field": f"s{side}", "position": side, "text_id": 2 * i + side,
                            "rating": None if hidden else value + (0.25 if judge == "good" else 0.0),
                            "choice": None if hidden else value,
                            "reason": REASONS[i % 4] if hidden else "",
                        }  # fmt: skip


@pytest.fixture(scope="module")
def chosen(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chosen")
    rows = list(made_ratings())
    files = []
    for judge in JUDGES:
        for generator in GENERATORS:
            part = [r for r in rows if (r["judge"], r["generator"]) == (judge, generator)]
            path = folder / f"{judge}-{generator}.parquet"
            pq.write_table(pa.Table.from_pylist(part, schema=SCHEMA), path)
            files.append(path)
    rates = {g: {"total": float(i)} for i, g in enumerate(GENERATORS)}
    (folder / "shortlist.json").write_text(json.dumps({"shortlist": GENERATORS, "rates": rates}))
    entry = SelectionEntry(
        id="s", candidates=GENERATORS, dataset="d", transformations=list(SIZES), judge_prompt="p",
        shortlist=3, judges=["guest"], resamples=300, alpha=0.1,
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crossover, "save", lambda *a: None)
        crossover.choose(
            ratings=files, shortlist=folder / "shortlist.json", selection=entry, names=NAMES,
            folder=folder / "tables", figures=folder, out=folder / "winner.json",
        )  # fmt: skip
    return folder, rows


def counted(rows):
    """Return the ratings that count, by plain loops: the judge rated the text of every generator."""
    place = ("judge", "transformation", "text_id")
    given = {}
    for r in rows:
        if r["rating"] is not None:
            given.setdefault(tuple(r[k] for k in place), []).append(r)
    return [r for part in given.values() if len(part) == len(GENERATORS) for r in part]


def mean_of(rows, **where):
    return fmean(r["rating"] for r in rows if all(r[k] == v for k, v in where.items()))


def table(folder, name):
    return pd.read_csv(folder / "tables" / f"{name}.csv")


def test_every_table_and_sentence_is_approved(chosen):
    folder, _ = chosen
    for path in sorted((folder / "tables").iterdir()):
        if path.suffix in {".csv", ".md"}:
            approve(f"select/{path.name}", path.read_text(encoding="utf-8"))
    approve("select/winner.json", (folder / "winner.json").read_text(encoding="utf-8"))
    approve("select/points.csv", (folder / "crossover.csv").read_text(encoding="utf-8"))


def test_means_are_those_of_plain_loops(chosen):
    folder, rows = chosen
    kept = counted(rows)
    by_judge = table(folder, "crossover").set_index("judge")
    for judge in JUDGES:
        for g in GENERATORS:
            expected = mean_of(kept, judge=judge, generator=g)
            assert float(by_judge.loc[judge, g]) == pytest.approx(expected, abs=1e-6)
    cells = table(folder, "judge_by_transformation").set_index("transformation")
    for t in SIZES:
        for g in GENERATORS:
            assert cells.loc[t, g] == pytest.approx(mean_of(kept, transformation=t, generator=g), abs=1e-6)
    for g in GENERATORS:
        total = fmean(mean_of(kept, transformation=t, generator=g) for t in SIZES)
        assert cells.loc["total", g] == pytest.approx(total, abs=1e-6)


def test_the_average_weighs_each_row_of_the_data_the_same(chosen):
    folder, rows = chosen
    kept = counted(rows)
    places = {(r["subset"], r["split"], r["row"]) for r in kept}
    by_judge = table(folder, "crossover").set_index("judge")
    found = json.loads((folder / "winner.json").read_text())
    assert found["n_observations"] == len(places)
    for g in GENERATORS:
        expected = fmean(mean_of(kept, subset=s, split=p, row=r, generator=g) for s, p, r in places)
        assert float(by_judge.loc["average", g]) == pytest.approx(expected, abs=1e-6)
        assert found["means"][g] == pytest.approx(expected, abs=1e-6)
    assert found["winner"] == max(found["means"], key=found["means"].get)


def test_what_a_judge_adds_for_itself_is_that_of_plain_loops(chosen):
    folder, rows = chosen
    kept = counted(rows)
    own = table(folder, "self_preference").set_index("judge")
    assert list(own.index) == GENERATORS
    for judge in GENERATORS:
        gaps = {}
        for r in {(r["subset"], r["split"], r["row"]) for r in kept}:
            at = dict(zip(("subset", "split", "row"), r, strict=True))
            for j in JUDGES:
                seen = [x for x in kept if x["judge"] == j and all(x[k] == v for k, v in at.items())]
                if seen:
                    others = fmean(mean_of(seen, generator=g) for g in GENERATORS if g != judge)
                    gaps[r, j] = mean_of(seen, generator=judge) - others
        mine = {r: v for (r, j), v in gaps.items() if j == judge}
        assert own.loc[judge, "own_minus_others"] == pytest.approx(fmean(mine.values()), abs=1e-6)
        assert own.loc[judge, "n"] == len(mine)
        among = {r: [v for (q, j), v in gaps.items() if q == r and j != judge] for r in mine}
        relative = fmean(mine[r] - fmean(among[r]) for r in mine if among[r])
        assert own.loc[judge, "relative"] == pytest.approx(relative, abs=1e-6)


def test_counts_say_what_is_missing_and_why(chosen):
    folder, rows = chosen
    kept = counted(rows)
    counts = table(folder, "judge_counts").set_index(["judge", "generator"])
    for judge in JUDGES:
        for g in GENERATORS:
            mine = [r for r in rows if (r["judge"], r["generator"]) == (judge, g)]
            expected = [
                len(mine), sum(r["rating"] is not None for r in mine),
                sum(r["reason"] == "unparsable" for r in mine), sum(r["reason"] == "too_long" for r in mine),
                sum(r["reason"] in {"refused", "filtered"} for r in mine),
                sum((r["judge"], r["generator"]) == (judge, g) for r in kept),
            ]  # fmt: skip
            found = counts.loc[
                (judge, g), ["asked", "rated", "unparsable", "too_long", "unanswered", "counted"]
            ]
            assert found.tolist() == expected


def test_correlations_between_judges_are_scipys(chosen):
    folder, rows = chosen
    found = table(folder, "judge_agreement").set_index("transformation")
    for t in (*SIZES, "all"):
        chosen_rows = [r for r in rows if r["choice"] is not None and t in (r["transformation"], "all")]
        place = {j: {} for j in JUDGES}
        for r in chosen_rows:
            place[r["judge"]][r["transformation"], r["text_id"], r["generator"]] = r["choice"]
        rhos = []
        for i, a in enumerate(JUDGES):
            for b in JUDGES[i + 1 :]:
                both = sorted(place[a].keys() & place[b].keys())
                rhos.append(spearmanr([place[a][k] for k in both], [place[b][k] for k in both]).statistic)
        assert found.loc[t, "spearman"] == pytest.approx(fmean(rhos), abs=1e-6)
        assert found.loc[t, "n_judges"] == 4


def rates_of(folder):
    """Write transform tables of three candidates in two transformations of unequal size; return the files."""
    files = {}
    for g in ("zeta", "alpha", "mid"):
        files[g] = []
        for t, n in (("longer", 8), ("shorter", 21)):
            rows = []
            for i in range(n):
                rng = random.Random(f"{g} {t} {i}")
                flags = {f: rng.random() < {"zeta": 0.07, "alpha": 0.02, "mid": 0.03}[g] for f in FLAGS}
                rows.append(
                    {
                        **dict.fromkeys(TRANSFORM_SCHEMA.names), **flags,
                        "outcome": rng.choice(["ok", "ok", "flagged", "fallback", "dropped", "retried"]),
                        "attempts": rng.choice([1, 1, 2, 3]),
                        "cleaned": rng.choice(["", "quotes", "think,quotes"]),
                    }
                )  # fmt: skip
            path = folder / "sts" / g / t / "7.parquet"
            path.parent.mkdir(parents=True)
            pq.write_table(pa.Table.from_pylist(rows, schema=TRANSFORM_SCHEMA), path)
            files[g].append(path)
    return files


def test_every_table_of_the_screening_is_approved(tmp_path):
    names = Names({}, {}, {"zeta": "Z", "alpha": "A", "mid": "M"}, {"shorter": "S", "longer": "L"}, {})
    out = tmp_path / "shortlist.json"
    screen(transforms=rates_of(tmp_path), shortlist=2, names=names, folder=tmp_path / "tables", out=out)
    for path in sorted((tmp_path / "tables").iterdir()):
        if path.suffix in {".csv", ".md"}:
            approve(f"select/{path.name}", path.read_text(encoding="utf-8"))
    approve("select/shortlist.json", out.read_text(encoding="utf-8"))


def test_a_shortlist_of_one_is_one():
    rates = pd.DataFrame({"generator": ["x", "y"], "total": [2.0, 1.0]})
    assert shortlist(rates, 1) == ("y",)


def outcome(*, equal: bool) -> crossover.Outcome:
    """Return a comparison of two whose means are equal, or in the order last, first."""
    means = {g: Interval(m, m - 1, m + 1) for g, m in (("b", 3.0), ("a", 3.0 if equal else 4.0))}
    pair = Comparison("b", "a", 0.0 if equal else -1.0, -1.5, 0.5, 0.4, 0.4)
    return crossover.Outcome(means, [pair], {"b": "a", "a": "a" if equal else "b"}, {"b": 0.125, "a": 0.875})


@pytest.mark.parametrize(
    ("equal", "errors", "first"),
    [
        (True, {"a": 1.0, "b": 2.0}, "a"),
        (True, {"a": 1.0, "b": 1.0}, "b"),
        (False, {"a": 9.0, "b": 1.0}, "a"),
    ],
)
def test_the_mean_decides_then_the_error_rate_then_the_order(equal, errors, first):
    found = crossover.winner(outcome(equal=equal), errors=errors, names=NAMES, n=7)
    assert found["winner"] == first
    assert found["tied_with"] == ([("a", "b")[first == "a"]] if equal else [])
    if not equal:
        assert (found["margin"], found["margin_low"], found["margin_high"]) == (1.0, -0.5, 1.5)
        assert "(4.00), 1.00 above b (interval -0.50 to 1.50, Holm-corrected p = 0.4" in found["sentence"]
        assert "best in 88 % of resamples of 7 observations); significantly better" in found["sentence"]


def test_rows_are_known_by_subset_split_and_number():
    frame = pd.DataFrame(
        [
            {"subset": s, "split": p, "row": str(i), "text_id": n}
            for n, (s, p, i) in enumerate(
                (s, p, i) for s in "ab" for p in ("test", "validation") for i in range(5)
            )
        ]
    )
    for n in (1, 7, 19, 20, 21):
        assert len(sample_texts(frame, rows=n, seed=2)) == min(n, 20)


def test_what_a_judge_gave_is_counted():
    nan = float("nan")
    found = [
        Read(4.0, 4, "", (0.5, 0.5)), Read(3.0, 3, "", None), Read(2.0, 2, "", None), Read(1.0, 1, "", None),
        Read(nan, None, "unparsable", (0.5, 0.5)), Read(nan, None, "unparsable", None),
        *[Read(nan, None, "too_long", None)] * 3, Read(nan, None, "refused", None),
        Read(nan, None, "filtered", None),
    ]  # fmt: skip
    stats = _counted(found, 5, Tally(reused=2, sent=3, tokens_in=11, tokens_out=7))
    assert (stats.ratings, stats.unique, stats.reused, stats.sent) == (11, 5, 2, 3)
    assert (stats.missing, stats.unparsable, stats.too_long, stats.unguided) == (7, 2, 3, 3)
    assert stats.unanswered == 2
    assert (stats.tokens_in, stats.tokens_out) == (11, 7)
