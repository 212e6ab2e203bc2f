"""The documentation of results against the code it describes."""

import re
from pathlib import Path

import pytest

from stressbed.analyse import CONCLUSIONS, ITEM_TABLES, TABLES
from stressbed.collect.schema import ITEM_DRIFT, ITEM_TEXTS, ITEMS, SCORES, as_markdown
from stressbed.plot import FIGURES

ROOT = Path(__file__).parents[3]
DOC = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "schema", [SCORES, ITEMS, ITEM_TEXTS, ITEM_DRIFT], ids=["scores", "items", "texts", "drift"]
)
def test_columns_are_documented_as_declared(schema):
    assert as_markdown(schema) in DOC


@pytest.mark.parametrize("name", [*TABLES, *ITEM_TABLES, *CONCLUSIONS, *FIGURES])
def test_every_table_and_figure_is_named(name):
    assert f"`{name}`" in DOC


def test_every_caption_is_there_and_says_something():
    captions = {p.stem for p in (ROOT / "workflow" / "report").glob("*.rst")}
    tables = (*TABLES, *ITEM_TABLES, *CONCLUSIONS)
    needed = {re.sub(r"^(flag_rates|catalogue)_.*", r"\1", t) for t in tables} | set(FIGURES)
    assert needed | {"workflow", "summary"} <= captions
    for path in (ROOT / "workflow" / "report").glob("*.rst"):
        assert len(path.read_text(encoding="utf-8").split()) > 20, path.name


def render(config):
    import docutils.core
    import jinja2

    fake = type("Snakemake", (), {"config": config})
    # Snakemake's own setting, which takes away the line end after a block.
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    for path in sorted((ROOT / "workflow" / "report").glob("*.rst")):
        text = environment.from_string(path.read_text(encoding="utf-8")).render(snakemake=fake)
        # halt_level 2: a warning of reStructuredText is an error here.
        parts = docutils.core.publish_parts(text, writer="html", settings_overrides={"halt_level": 2})
        yield path.stem, parts["body"]


CONFIG = {
    "run": "q", "embedders": ["a", "b"], "datasets": ["d"], "generator": ["g"],
    "transformations": ["t"], "seeds": [1, 2],
}  # fmt: skip


def test_captions_render_and_the_notice_comes_first():
    texts = dict(render(CONFIG | {"notice": "A 135M model.\nIt shows the pipeline.", "fallback_mark": 0.02}))
    first = texts["workflow"].strip().splitlines()[0]
    assert first == "<p><strong>A 135M model. It shows the pipeline.</strong></p>"
    assert "more than 2 % of the texts" in texts["hteb_scores"].replace("\n", " ")
    assert texts["workflow"].count("<li>") == 5
    assert "Seeds: 1, 2" in texts["workflow"]


def test_captions_render_without_what_is_optional():
    texts = dict(render(CONFIG | {"generator": "one-llm", "description": "A study."}))
    assert texts["workflow"].strip().startswith("<p>How far")
    assert "A study." in texts["workflow"]
    assert "texts: one-llm</li>" in texts["workflow"]
    assert "more than 1 % of the texts" in texts["hteb_scores"].replace("\n", " ")


@pytest.mark.parametrize(
    "words", ["2 * 3 is *six", "`open", "see |this|", "a_ and __b__ and [1]_", "C:\\new\\", "**", "_"]
)
def test_marks_in_a_users_words_are_no_markup(words):
    config = CONFIG | {"notice": words, "description": words, "embedders": ["tf_", "b__"]}
    texts = dict(render(config | {"run": "tries_"}))
    assert f"<p><strong>{words}</strong></p>" in texts["workflow"]
    assert "Embedders: tf_, b__</li>" in texts["workflow"]
    assert "the run <strong>tries_</strong>" in texts["workflow"]
