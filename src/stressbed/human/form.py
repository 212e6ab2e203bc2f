"""A sheet as one HTML file that works offline and saves the ratings as CSV."""

from __future__ import annotations

import html
import json
from importlib import resources

from stressbed.fingerprint import digest
from stressbed.human.sheets import SCALES, Sheet, language_names
from stressbed.webpage import allowed, filled, harmless

LABELS = {"original": "Original", "rewrite": "Rewrite", "text1": "Text 1", "text2": "Text 2"}
QUESTIONS = {
    "quality": [
        {
            "name": "quality",
            "label": "Quality: was the task done, and the meaning kept?",
            "low": "not at all",
            "high": "fully",
        },
        {
            "name": "fluency",
            "label": "Fluency: does the rewrite read as well-formed?",
            "low": "not at all",
            "high": "fully",
        },
    ],
    "similarity": [
        {
            "name": "similarity",
            "label": "Similarity of meaning",
            "low": "different topics",
            "high": "same meaning",
        }
    ],
}
"""What raters are asked, by kind of sheet; the names are columns of the saved CSV."""


def guide(sheet: Sheet) -> list[str]:
    """Return what the rater reads first, in sentences."""
    knows = f"For readers who know {language_names(sheet.languages)} as native speakers do."
    rules = "Please rate by yourself, without help from AI. Save often; you can go on from a saved file."
    if sheet.kind == "similarity":
        return [
            knows,
            "Rate how similar in meaning the two texts are, from 0 (different topics) to 5 (same meaning), "
            "whether they are in one language or in two.",
            rules,
        ]
    return [
        knows,
        "Each item shows a task, a text, and a rewrite that a machine made of it. Rate from 1 (worst) to 5 "
        "(best); 3 is acceptable. Quality: was the task done while the meaning was kept? "
        "Fluency: does the rewrite, taken alone, read as well-formed?",
        rules,
    ]


def form(sheet: Sheet) -> str:
    """Return the HTML file of a sheet; it loads nothing, and only its own script may run.

    The data in it are ASCII alone, so that no encoding harms them.
    """
    parts = resources.files("stressbed.human")
    page, style, script = (
        parts.joinpath(f"form.{s}").read_text(encoding="utf-8") for s in ("html", "css", "js")
    )
    policy = f"default-src 'none'; base-uri 'none'; script-src {allowed(script)}; style-src {allowed(style)}"
    data = {
        "name": sheet.name,
        "hash": digest(list(sheet.items)),
        "scale": SCALES[sheet.kind],
        "texts": [{"name": t, "label": LABELS[t]} for t in sheet.texts],
        "questions": QUESTIONS[sheet.kind],
        "guide": guide(sheet),
        "items": sheet.items,
    }
    slots = {
        "@POLICY@": policy,
        "@TITLE@": html.escape(title(sheet)),
        "@STYLE@": style,
        "@SCRIPT@": script,
        "@SHEET@": harmless(
            json.dumps(data, ensure_ascii=True, sort_keys=True)
        ),  # last: a text may hold a slot's name
    }
    return filled(page, slots)


def title(sheet: Sheet) -> str:
    """Return the sheet's heading."""
    asked = "Similarity of texts" if sheet.kind == "similarity" else "Quality of rewrites"
    return f"{asked}: {language_names(sheet.languages)}, {len(sheet.items)} items"
