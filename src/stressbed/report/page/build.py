"""The page itself: template, style, scripts and data put into one file."""

from __future__ import annotations

import html
import json
import logging
from importlib import resources
from importlib.metadata import version
from pathlib import Path

from stressbed import __version__
from stressbed.analyse.names import Names
from stressbed.report.page.data import Json, page_data
from stressbed.store import write_text
from stressbed.webpage import allowed, filled, harmless

logger = logging.getLogger("stressbed")

CHARTS = ("bokeh.min.js", "bokeh-api.min.js")
"""Files of the charting library, within its Python package."""

SCRIPTS = ("core", "tables", "ranks", "charts", "leaderboard", "cards", "items", "statistics", "main")
"""The page's own scripts, in the order in which they run."""

LARGEST = 10_000_000
"""Bytes above which a page is said to be too large."""


def write_page(
    *, tables: Path, names: Names, out: Path, run: str = "", description: str = "", notice: str = ""
) -> int:
    """Write the interactive page of a run and return its size in bytes.

    Args:
        tables: Folder of the analysed tables.
        names: Labels, order and colours.
        out: Path of the page.
        run: Name of the run.
        description: A sentence about the run.
        notice: What a reader must know first.
    """
    data = page_data(tables=tables, names=names, run=run, description=description, notice=notice)
    text = render(data)
    write_text(out, text)
    size = len(text.encode())
    if size > LARGEST:
        logger.warning("the page %s has %.1f MB", out, size / 1e6)
    missing = [name for name, t in data["tables"].items() if "missing" in t]
    logger.info("wrote %s (%.1f MB); without %s", out, size / 1e6, ", ".join(missing) or "nothing")
    return size


def render(data: Json) -> str:
    """Return the page; it loads nothing, and no script but its own and the charts' may run."""
    style = _part("page.css")
    scripts = [*map(_chart_script, CHARTS), "\n".join(_part(f"js/{name}.js") for name in SCRIPTS)]
    # The charting library styles its shadow trees by style elements of its own.
    policy = (
        f"default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
        f"script-src {' '.join(map(allowed, scripts))}; style-src 'unsafe-inline'"
    )
    slots = {
        "@POLICY@": policy,
        "@TITLE@": html.escape(f"Robustness of text embedders: {data['run']}"),
        "@STYLE@": style,
        "@VERSION@": html.escape(f"stressbed {__version__}"),
        "@CHARTS@": html.escape(f"Bokeh {version('bokeh')}"),
        "@SCRIPTS@": "\n".join(f"<script>{s}</script>" for s in scripts),
        "@DATA@": embedded(data),  # last: a text may hold a slot's name
    }
    return filled(_part("template.html"), slots)


def embedded(data: object) -> str:
    """Return JSON that cannot end the script element it stands in, whatever the texts hold."""
    return harmless(json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def _part(name: str) -> str:
    return resources.files("stressbed.report.page").joinpath(name).read_text(encoding="utf-8")


def _chart_script(name: str) -> str:
    source = resources.files("bokeh").joinpath("server", "static", "js", name).read_text(encoding="utf-8")
    return source.replace("</script", r"<\/script")
