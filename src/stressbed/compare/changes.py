"""What differs between two runs beside their scores: configs, catalogue entries, versions; as sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stressbed.analyse.write import escape_markdown
from stressbed.compare.pairing import Pairing
from stressbed.compare.runs import Facts, Run
from stressbed.config.model import Strict

UNTOLD = frozenset({"run", "description", "results", "labels", "colours", "notice"})
"""Keys of a run config that decide no score."""

NOT_DECIDING = frozenset({"id", "label", "description"})


def changes(first: Run, second: Run, pairing: Pairing) -> list[str]:
    """Return what differs between two runs: config keys, each embedder, generators, package versions.

    Catalogue entries are looked up in the catalogue as it is now. Where an embedder is no longer what
    it was when a run was made, only its hash tells, and the sentence says so.
    """
    return [
        *_config(first, second),
        *(s for a, b in pairing.embedders.items() for s in _embedder(first, second, (a, b), pairing)),
        *(s for a, b in pairing.generators.items() for s in _generator(first, second, a, b)),
        *_versions(pairing.facts),
    ]


def _config(first: Run, second: Run) -> Iterator[str]:
    if not (first.config and second.config):
        yield "The configs cannot be compared: a run's folder has no config.yaml."
        return
    for key in sorted(set(first.config) | set(second.config)):
        a, b = first.config.get(key), second.config.get(key)
        if key in UNTOLD or a == b:
            continue
        if isinstance(a, list) and isinstance(b, list):
            gone, come = [x for x in a if x not in b], [x for x in b if x not in a]
            parts = [f"without {_said(gone)}" if gone else "", f"with {_said(come)}" if come else ""]
            yield f"Config key `{key}`: {' and '.join(filter(None, parts)) or 'another order'}."
        else:
            yield f"Config key `{key}`: {_said(a)} → {_said(b)}."


def _embedder(first: Run, second: Run, names: tuple[str, str], pairing: Pairing) -> Iterator[str]:
    a, b = names
    title = f"Embedder {a}" if a == b else f"Embedder {a} → {b}"
    both = next((facts for (e, _), facts in pairing.facts.items() if e == a), None)
    if both is None:
        return
    if both[0].embedder == both[1].embedder:
        yield f"{title}: the same in both runs (model, revision, number type, instruction, length)."
        return
    entries = [
        _entry_of(run, name, facts) for run, name, facts in zip((first, second), names, both, strict=True)
    ]
    if entries[0] is None or entries[1] is None:
        lost = first.name if entries[0] is None else second.name
        yield (
            f"{title}: not the same. What it was in {lost!r} is no longer in the catalogue; its hash was "
            f"{both[0].embedder[:12]}, then {both[1].embedder[:12]}."
        )
        return
    yield f"{title}: {'; '.join(_fields(entries[0], entries[1])) or 'its files or its loader differ'}."


def _entry_of(run: Run, name: str, facts: Facts) -> Strict | None:
    """Return an embedder's catalogue entry if it still is what the run was made with."""
    if run.plan is None or name not in run.plan.catalogue.embedders:
        return None
    now = run.plan.embedder_identity(name)
    return run.plan.catalogue.embedders[name] if now == facts.embedder else None


def _generator(first: Run, second: Run, a: str, b: str) -> Iterator[str]:
    if a == b or first.plan is None or second.plan is None:
        return
    entries = [run.plan.catalogue.generators.get(g) for run, g in ((first, a), (second, b)) if run.plan]
    if entries[0] is not None and entries[1] is not None:
        yield f"Generator {a} → {b}: {'; '.join(_fields(entries[0], entries[1]))}."


def _fields(first: Strict, second: Strict) -> list[str]:
    """Return `key: old → new` for each field that differs."""
    a, b = first.model_dump(mode="json"), second.model_dump(mode="json")
    return [f"{k}: {_said(a[k])} → {_said(b[k])}" for k in a if k not in NOT_DECIDING and a[k] != b[k]]


def _versions(facts: Mapping[tuple[str, str], tuple[Facts, Facts]]) -> Iterator[str]:
    """Yield the packages whose versions differ for some dataset."""
    seen: dict[str, tuple[str, str]] = {}
    for before, after in facts.values():
        for package in sorted({*before.versions, *after.versions}):
            pair = (str(before.versions.get(package, "none")), str(after.versions.get(package, "none")))
            if pair[0] != pair[1]:
                seen[package] = pair
    if seen:
        yield f"Versions: {', '.join(f'{p} {a} → {b}' for p, (a, b) in seen.items())}."


def _said(value: Any) -> str:
    """Return a value as Markdown."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return escape_markdown(", ".join(map(str, value))) or "none"
    return escape_markdown(str(value)) if value not in (None, "") else "none"
