"""The documentation of results against the code it describes."""

import re
from pathlib import Path

import pytest

from stressbed.analyse import TABLES
from stressbed.collect.schema import ITEMS, SCORES, as_markdown
from stressbed.plot import FIGURES

ROOT = Path(__file__).parents[3]
DOC = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("schema", [SCORES, ITEMS], ids=["scores", "items"])
def test_columns_are_documented_as_declared(schema):
    assert as_markdown(schema) in DOC


@pytest.mark.parametrize("name", [*TABLES, *FIGURES])
def test_every_table_and_figure_is_named(name):
    assert f"`{name}`" in DOC


def test_every_caption_is_there_and_says_something():
    captions = {p.stem for p in (ROOT / "workflow" / "report").glob("*.rst")}
    needed = {re.sub(r"^flag_rates_by_.*", "flag_rates", t) for t in TABLES} | set(FIGURES)
    assert needed | {"workflow", "summary"} <= captions
    for path in (ROOT / "workflow" / "report").glob("*.rst"):
        assert len(path.read_text(encoding="utf-8").split()) > 20, path.name


def render(config):
    jinja2 = pytest.importorskip("jinja2")
    docutils = pytest.importorskip("docutils.core")
    fake = type("Snakemake", (), {"config": config})
    for path in sorted((ROOT / "workflow" / "report").glob("*.rst")):
        text = jinja2.Template(path.read_text(encoding="utf-8")).render(snakemake=fake)
        # halt_level 2: a warning of reStructuredText is an error here.
        docutils.publish_parts(text, writer="html", settings_overrides={"halt_level": 2})
        yield path.stem, text


CONFIG = {
    "run": "q", "embedders": ["a", "b"], "datasets": ["d"], "generator": ["g"],
    "transformations": ["t"], "seeds": [1, 2],
}  # fmt: skip


def test_captions_render_and_the_notice_comes_first():
    texts = dict(render(CONFIG | {"notice": "A 135M model.\nIt shows the pipeline.", "fallback_mark": 0.02}))
    assert texts["workflow"].strip().startswith("**A 135M model. It shows the pipeline.**")
    assert "more than 2 % of the texts" in texts["hteb_scores"]
    assert "Seeds: 1, 2" in texts["workflow"]


def test_captions_render_without_what_is_optional():
    texts = dict(render(CONFIG | {"generator": "g"}))
    assert texts["workflow"].strip().startswith("How far")
    assert "more than 1 % of the texts" in texts["hteb_scores"]
