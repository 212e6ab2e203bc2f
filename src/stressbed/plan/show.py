"""A forecast as text, Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width

from stressbed.plan import numbers as n
from stressbed.plan.forecast import DatasetRow, Forecast, ModelRow, Stage
from stressbed.store import write_text

PLACES = {"gpu": "GPU", "cpu": "CPU", "endpoint": "endpoint"}
FILES = ("plan.md", "plan.csv", "plan.json")

Table = tuple[list[str], list[list[str]]]
"""Heads and rows; the columns of names are the first and those whose head begins with a blank."""


def headline(f: Forecast) -> str:
    """Return the forecast in one sentence: hours, bytes, requests, money, what is done."""
    parts = []
    gpu, cpu = f.hours("gpu"), f.hours("cpu")
    if gpu:
        parts.append(f"{_hours(gpu)} GPU-hours ({f.device})")
    else:
        parts.append(f"{n.duration(cpu * 3600, measured=True)} of CPU time")
    parts.append(n.size(f.bytes) + " on disk")
    if f.requests:
        parts.append(f"{_large(f.requests)} requests to the LLM")
    said = f"{f.run}: about {', '.join(parts)}"
    if f.price is not None:
        said += f", {n.money(f.price)} to pay (in the currency of the catalogue's prices)"
    return f"{said}; {n.percent(f.share_done)} done."


def _hours(value: float) -> str:
    return f"{n.rounded(value, 2):,.0f}" if value >= 10 else f"{value:.1f}"


def _large(value: float) -> str:
    if value >= 1e6:
        return f"{n.rounded(value / 1e6, 2):g} million"
    return f"{n.rounded(value):,.0f}"


def _time(by: dict[str, float], *, measured: bool) -> str:
    shown = [
        f"{n.duration(s, measured=measured)} {PLACES[p]}"
        for p, s in sorted(by.items(), key=lambda x: list(PLACES).index(x[0]))
        if s >= 1
    ]
    return " + ".join(shown) or "0 s"


def stage_table(f: Forecast) -> Table:
    """Return the stages."""
    heads = [
        "stage",
        "jobs left",
        "of",
        "work",
        " unit",
        "done",
        "tokens in",
        "tokens out",
        "time",
        "time left",
        "disk",
    ]
    rows = [_stage(s) for s in f.stages]
    places = [p for p in PLACES if f.hours(p)]
    measured = all(s.measured for s in f.stages)
    total = {p: f.hours(p) * 3600 for p in places}
    left = {p: f.hours(p, left=True) * 3600 for p in places}
    jobs = [sum(s.jobs_left for s in f.stages), sum(s.jobs for s in f.stages)]
    rows.append(
        ["total", f"{jobs[0]:,}", f"{jobs[1]:,}", "", "", n.percent(f.share_done), "", "",
         _time(total, measured=measured), _time(left, measured=measured), n.assumed_size(f.bytes)]
    )  # fmt: skip
    return _begun((heads, rows), f)


def _begun(table: Table, f: Forecast) -> Table:
    """Return the table without what is left where nothing is done yet: it would say everything twice."""
    if any(s.done for s in f.stages):
        return table
    heads, rows = table
    kept = [i for i, h in enumerate(heads) if h not in {"time left", "price left"}]
    return [heads[i] for i in kept], [[row[i] for i in kept] for row in rows]


def _stage(s: Stage) -> list[str]:
    read = "" if s.tokens_in is None else n.tokens(s.tokens_in, exact=s.tokens_exact)
    written = "" if s.tokens_out is None else n.tokens(s.tokens_out, exact=s.tokens_exact)
    return [
        s.name, f"{s.jobs_left:,}", f"{s.jobs:,}", n.count(s.units, exact=s.exact), s.unit,
        n.percent(s.share_done), read, written, _time(s.seconds, measured=s.measured),
        _time(s.seconds_left, measured=s.measured), n.assumed_size(s.bytes),
    ]  # fmt: skip


def model_table(f: Forecast) -> Table:
    """Return the models."""
    priced = any(m.price is not None for m in f.models)
    heads = ["model", " role", "size", "work", " unit", "done", "time", "time left", "store", "weights"]
    heads += ["price", "price left"] if priced else []
    return _begun((heads, [_model(m, priced=priced) for m in f.models]), f)


def _model(m: ModelRow, *, priced: bool) -> list[str]:
    unit = "strings" if m.role == "embedder" else "requests"
    row = [
        m.model, m.role, n.parameters(m.parameters, told=m.parameters_told),
        n.count(m.units, exact=m.exact), unit,
        n.percent(m.done / m.units if m.units else 1.0), _time({m.place: m.seconds}, measured=m.measured),
        _time({m.place: m.seconds_left}, measured=m.measured),
        n.assumed_size(m.bytes), n.assumed_size(m.weights),
    ]  # fmt: skip
    if priced:
        row += ["" if p is None else f"~{n.money(p)}" for p in (m.price, m.price_left)]
    return row


def dataset_table(f: Forecast) -> Table:
    """Return the datasets."""
    heads = ["dataset", "texts", "different", "requests", "of naive", "done", "strings per embedder"]
    return heads, [_dataset(d) for d in f.datasets]


def _dataset(d: DatasetRow) -> list[str]:
    return [
        d.dataset, n.count(d.texts, exact=d.exact), n.count(d.unique, exact=d.exact),
        n.count(d.requests, exact=d.requests_exact), n.percent(d.requests / d.naive if d.naive else 1.0),
        n.percent(min(1.0, d.requests_done / d.requests) if d.requests else 1.0),
        n.count(d.strings, exact=d.strings_exact),
    ]  # fmt: skip


def as_text(f: Forecast) -> str:
    """Return a forecast for a terminal."""
    blocks = [headline(f), *(f"! {w}" for w in f.warnings), _legend(f), "", _aligned(*stage_table(f))]
    if len(f.models) > 1 or len(f.datasets) > 1:
        blocks += ["", _aligned(*model_table(f))]
        if f.datasets:
            blocks += ["", _aligned(*dataset_table(f))]
    if f.other_devices:
        blocks += ["", f"{elsewhere(f)}"]
    if f.notes:
        blocks += ["", "Assumed, and left out:", *(_wrapped(note) for note in f.notes)]
    return "\n".join(blocks) + "\n"


def as_markdown(f: Forecast) -> str:
    """Return a forecast as Markdown."""
    blocks = [f"# What the run {f.run} takes", "", headline(f), *(f"**{w}**" for w in f.warnings), _legend(f)]
    for title, table in (
        ("Stages", stage_table(f)),
        ("Models", model_table(f)),
        ("Datasets", dataset_table(f)),
    ):
        if table[1]:
            blocks += ["", f"## {title}", "", _piped(*table)]
    if f.other_devices:
        blocks += ["", elsewhere(f)]
    if f.notes:
        blocks += ["", "## Assumed, and left out", "", *(f"- {note}" for note in f.notes)]
    return "\n".join(blocks) + "\n"


def _legend(f: Forecast) -> str:
    return (
        "`~` marks what is assumed; the rest is counted, or follows from recorded speeds. Free on this disk: "
        f"{n.size(f.free_bytes)}."
    )


def elsewhere(f: Forecast) -> str:
    """Return the time that is left on other classes of devices, in a sentence."""
    times = [f"{label} {n.duration(h * 3600, measured=False)}" for label, h in f.other_devices.items()]
    return f"GPU time that is left, by device: {', '.join(times)}."


def as_csv(f: Forecast) -> str:
    """Return a forecast as one long table: part, name, what, value, assumed."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["part", "name", "what", "value", "assumed"])
    for part, rows in (("stage", f.stages), ("model", f.models), ("dataset", f.datasets)):
        for row in rows:
            writer.writerows([part, *line] for line in _values(row))
    return out.getvalue()


def _values(row: Stage | ModelRow | DatasetRow) -> list[list[object]]:
    values: dict[str, Any] = asdict(row)
    name = next(iter(values.values()))
    assumed = {
        "units": not values.get("exact"), "requests": not values.get("requests_exact"),
        "strings": not values.get("strings_exact"), "texts": not values.get("exact"),
        "unique": not values.get("exact"), "naive": not values.get("exact"),
        "tokens_in": not values.get("tokens_exact"), "tokens_out": not values.get("tokens_exact"),
        "bytes": True, "weights": True, "price": True, "price_left": True,
        "parameters": not values.get("parameters_told"),
    }  # fmt: skip
    found: list[list[object]] = []
    for what, value in list(values.items())[1:]:
        if isinstance(value, dict):
            found += [[name, f"{what}_{p}", round(v, 1), not values["measured"]] for p, v in value.items()]
        elif isinstance(value, int | float) and not isinstance(value, bool):
            timed = what.startswith("seconds")
            mark = not values.get("measured") if timed else assumed.get(what, False)
            found.append([name, what, round(value, 2), mark])
    return [[a, b, c, "yes" if d else "no"] for a, b, c, d in found]


def as_json(f: Forecast) -> str:
    """Return a forecast with all of its numbers, unrounded, as JSON."""
    whole = asdict(f) | {
        "headline": headline(f),
        "share_done": f.share_done,
        "requests": f.requests,
        "bytes": f.bytes,
        "hours": {p: f.hours(p) for p in PLACES},
        "hours_left": {p: f.hours(p, left=True) for p in PLACES},
        "price_left": f.price,
    }
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def write(f: Forecast, folder: Path) -> None:
    """Write `plan.md`, `plan.csv` and `plan.json` into a folder."""
    for name, text in zip(FILES, (as_markdown(f), as_csv(f), as_json(f)), strict=True):
        write_text(folder / name, text)


def _aligned(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    left = [i == 0 or h.startswith(" ") for i, h in enumerate(heads)]
    table = [[h.strip() for h in heads], *rows]
    widths = [max(_width(row[i]) for row in table) for i in range(len(heads))]
    lines = []
    for row in table:
        cells = [_padded(c, w, left=at) for c, w, at in zip(row, widths, left, strict=True)]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "  ".join("-" * w for w in widths))
    return "\n".join(lines)


def _piped(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    marks = ["---" if i == 0 or h.startswith(" ") else "---:" for i, h in enumerate(heads)]
    table = [[h.strip() for h in heads], marks, *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in table)


def _padded(text: str, width: int, *, left: bool) -> str:
    gap = " " * (width - _width(text))
    return text + gap if left else gap + text


def _width(text: str) -> int:
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in text)


def _wrapped(note: str) -> str:
    import textwrap

    return textwrap.fill(note, 118, initial_indent="- ", subsequent_indent="  ")
