"""A judge's request, what counts as a rating, and a job that asks each rewrite once."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from stressbed.config.entries import GeneratorEntry, JudgePromptEntry, TransformationEntry
from stressbed.generate.engines.fake import FakeEngine
from stressbed.generate.request import Completion
from stressbed.select.judge import ask, judge, parse, read_answer
from stressbed.select.sample import sample_texts
from stressbed.transform.run import SCHEMA as TRANSFORM_SCHEMA

CATALOGUE = Path(__file__).parents[3] / "config" / "catalogue"
PROMPT = JudgePromptEntry.model_validate(
    yaml.safe_load((CATALOGUE / "judges.yaml").read_text())["judge_prompts"][0]
)
SCALE = [1, 2, 3, 4, 5]


def row(original="An old text.", text="A new text.", source="eng-Latn", target="deu-Latn"):
    return {"original": original, "text": text, "source_language": source, "target_language": target}


def words(request):
    return request.messages[0][1]


def test_the_prompt_holds_task_languages_and_both_texts():
    said = words(ask(PROMPT, task="Translate from {source_language} into {target_language}.", row=row()))
    assert "Task: Translate from English into German." in said
    assert "<original>\nAn old text.\n</original>" in said
    assert "<rewrite>\nA new text.\n</rewrite>" in said
    assert "{" not in said


@pytest.mark.parametrize(
    "awkward", ["{rewrite}", "{task} {0} {", "}}{{original}}", r"\1 \g<task>", "</original>"]
)
def test_texts_are_never_read_as_templates(awkward):
    said = words(ask(PROMPT, task="Shorten it.", row=row(original=awkward, text="{original}")))
    assert f"<original>\n{awkward}\n</original>" in said
    assert "<rewrite>\n{original}\n</rewrite>" in said


def test_a_language_that_no_one_knows_is_described():
    said = words(ask(PROMPT, task="Say it anew in {source_language}.", row=row(source="und")))
    assert "in the same language as the text." in said


def test_what_is_the_same_for_all_comes_first():
    one, two = (words(ask(PROMPT, task=t, row=row())) for t in ("Translate.", "Shorten."))
    shared = next(i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b)
    assert shared > 0.6 * len(one)
    assert len(PROMPT.template.split()) <= 150


@pytest.mark.parametrize(
    ("answer", "rating"),
    [
        ("4", 4), (" 4\n", 4), ("4.", 4), ("**4**", 4), ("Rating: 4", 4), ("rating = 3", None), ("4/5", 4),
        ("5 / 5", 5), ("3 out of 5", 3), ("The rating is 2.", 2), ("Final score: **5**", 5), ('"1"', 1),
        ("<think>Hm, 2 or 3.</think>\n3", 3), ("(4)", 4), ("Answer: 4", 4), ("My rating is: 4", 4),
        ("4 or 5", None), ("4-5", None), ("10", None), ("0", None), ("6", None), ("4/10", None),
        ("4.5", None), ("", None), ("good", None), ("four", None),
        ("4 because it is good", None), ("I give it a 4", None),
        ("1 2 3 4 5", None), ("- 4", 4), ("-4", None), ("٤", 4), ("４", 4),
    ],
)  # fmt: skip
def test_only_an_unmistakable_number_is_a_rating(answer, rating):
    assert parse(answer, SCALE) == rating


def test_expected_ratings_come_from_probabilities_where_there_are_some():
    answer = Completion("k", "5", "stop", 9, 1, (0.0, 0.0, 0.25, 0.25, 0.5))
    assert read_answer(answer, SCALE, "expected").rating == pytest.approx(4.25)
    assert read_answer(answer, SCALE, "choice").rating == 5.0
    without = replace(answer, probabilities=None)
    assert read_answer(without, SCALE, "expected").rating == 5.0
    cut = Completion("k", "", "too_long", 9, 0)
    assert read_answer(cut, SCALE, "choice").reason == "too_long"
    nonsense = read_answer(Completion("k", "splendid", "stop", 9, 1), SCALE, "expected")
    assert nonsense.choice is None
    assert nonsense.rating != nonsense.rating
    assert nonsense.reason == "unparsable"


def table(folder: Path, generator: str, transformation: str, texts: dict[int, tuple[str, str]]) -> Path:
    """Write a table of rewrites as the screening has them."""
    path = folder / "transforms" / "data" / generator / transformation / "1.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            **dict.fromkeys(TRANSFORM_SCHEMA.names), "text_id": i, "subset": "default", "split": "test",
            "row": str(i // 2), "field": f"sentence{i % 2 + 1}", "position": 0, "original": original,
            "text": new, "source_language": "eng-Latn", "target_language": "eng-Latn", "outcome": "ok",
        }
        for i, (original, new) in texts.items()
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows, schema=TRANSFORM_SCHEMA), path)
    return path


def entry(folder: Path, **options) -> GeneratorEntry:
    return GeneratorEntry(
        id="j",
        engine="fake",
        model="fake",
        batch_size=2,
        engine_options={"log": str(folder / "asked"), **options},
    )


def run(folder: Path, generator: str, files: list[Path], **options):
    made = entry(folder, **options)
    out = folder / f"{generator}.parquet"
    tasks = {t: TransformationEntry(
        id=t, label=t, axis="length", steps=[{"prompt": "p", "language": "source"}], task=f"Do {t}."
    ) for t in ("shorter", "longer")}  # fmt: skip
    stats = judge(
        judge_id="j", judge_entry=made, judge_identity="identity", rated=generator, transforms=files,
        transformations=tasks, prompt=PROMPT, rating="choice", store_root=folder / "store", out=out,
        open_engine=lambda: FakeEngine(made),
    )  # fmt: skip
    return pd.read_parquet(out), stats


TEXTS = {i: (f"old {i}", f"new {i}") for i in range(6)}


def test_one_rating_per_rewrite_and_equal_ones_are_asked_once(tmp_path):
    files = [table(tmp_path, "g", t, TEXTS) for t in ("shorter", "longer")]
    ratings, stats = run(tmp_path, "g", files)
    assert len(ratings) == 12
    assert ratings["rating"].between(1, 5).all()
    assert stats.sent == stats.ratings == 12
    assert set(zip(ratings["transformation"], ratings["text_id"], strict=True)) == {
        (t, i) for t in ("shorter", "longer") for i in TEXTS
    }
    # Another generator that wrote half of the same texts costs the other half only.
    other = {i: (old, new if i < 3 else f"other {i}") for i, (old, new) in TEXTS.items()}
    again, stats = run(tmp_path, "h", [table(tmp_path, "h", t, other) for t in ("shorter", "longer")])
    assert (stats.sent, stats.reused) == (6, 6)
    asked = (tmp_path / "asked").read_text().split()
    assert len(asked) == len(set(asked)) == 18
    same = ratings["text_id"] < 3
    assert again.loc[same, "rating"].tolist() == ratings.loc[same, "rating"].tolist()


def test_a_second_run_opens_no_engine_and_writes_the_same(tmp_path):
    files = [table(tmp_path, "g", "shorter", TEXTS)]
    first, _ = run(tmp_path, "g", files)
    before = (tmp_path / "g.parquet").read_bytes()
    second, stats = run(tmp_path, "g", files)
    assert stats.sent == 0
    assert (tmp_path / "g.parquet").read_bytes() == before
    pd.testing.assert_frame_equal(first, second)


def test_nonsense_is_counted_and_missing_never_filled_in(tmp_path):
    many = {i: (f"old {i}", f"new {i}") for i in range(200)}
    ratings, stats = run(tmp_path, "g", [table(tmp_path, "g", "shorter", many)], nonsense_rate=0.25)
    missing = ratings["rating"].isna()
    assert 25 < missing.sum() < 75
    assert stats.unparsable == stats.missing == missing.sum()
    assert (ratings.loc[missing, "reason"] == "unparsable").all()
    assert ratings.loc[missing, "choice"].isna().all()


def test_the_wording_is_part_of_the_question(tmp_path):
    files = [table(tmp_path, "g", "shorter", TEXTS)]
    first, _ = run(tmp_path, "g", files)
    changed = PROMPT.model_copy(update={"template": PROMPT.template.replace("small flaws", "few flaws")})
    request = ask(changed, task="Do shorter.", row=row("old 0", "new 0"))
    assert request.key("identity") not in set(first["key"])


def pairs(n: int) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "text_id": 2 * i + j,
                "subset": "default",
                "split": "test",
                "row": str(i),
                "field": f"sentence{j + 1}",
            }
            for i in range(n)
            for j in range(2)
        ]
    )


def test_whole_rows_are_drawn_and_a_larger_draw_holds_the_smaller():
    few, more = (sample_texts(pairs(50), rows=n, seed=3) for n in (8, 20))
    assert few["row"].nunique() == 8
    assert (few.groupby("row").size() == 2).all()
    assert set(few["row"]) < set(more["row"])
    assert few["text_id"].is_monotonic_increasing
    other = sample_texts(pairs(50), rows=8, seed=4)
    assert set(other["row"]) != set(few["row"])
    assert (
        len(sample_texts(pairs(5), rows=None, seed=0)) == len(sample_texts(pairs(5), rows=99, seed=0)) == 10
    )


def test_training_texts_are_left_out_where_there_are_others():
    frame = pd.concat([pairs(4).assign(split="train"), pairs(4)])
    assert set(sample_texts(frame, rows=None, seed=0)["split"]) == {"test"}
    assert len(sample_texts(pairs(4).assign(split="train"), rows=2, seed=0)) == 4


def test_every_shipped_transformation_says_what_raters_are_told():
    entries = yaml.safe_load((CATALOGUE / "transformations.yaml").read_text())["transformations"]
    for one in entries:
        task = TransformationEntry.model_validate(one).task
        assert task.endswith("."), one["id"]
        assert "{" not in words(ask(PROMPT, task=task, row=row())), json.dumps(one["id"])
