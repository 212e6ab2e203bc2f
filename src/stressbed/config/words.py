"""What YAML made of a word, and how it is written so that it stays one."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from typing import Any

import yaml

Place = tuple[Any, ...]
"""Keys and numbers on the way to a value; of a key itself its place with `KEY` behind."""

KEY = "[key]"

OTHER_BASE = re.compile(r"[-+]?(0[0-7_]+|[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?)")
"""Numbers that YAML 1.1 reads to the base 8 or 60: nobody means these."""

READ_AS: dict[bool, str] = {True: "yes, on and true", False: "no, off and false"}
"""Words that YAML 1.1 reads as true and false."""

_PARTS = re.compile(r"[,\s]+")


class Spelled(dict[str, Any]):
    """A mapping read from a YAML file that knows how what is no text in it was written."""

    def __init__(self, values: Mapping[str, Any], spelling: Mapping[Place, str]) -> None:
        super().__init__(values)
        self.spelling = dict(spelling)


def remedy(place: Place, value: Any, kind: str, spelling: Mapping[Place, str]) -> str:
    """Return how to write a value that is of the wrong type, or "" where nothing is known.

    Args:
        place: Where it stands.
        value: What YAML made of it.
        kind: pydantic's name of the error.
        spelling: How values were written, by place.
    """
    if kind in {"string_type", "invalid_key", "literal_error", "string_pattern_mismatch"} and not isinstance(
        value, str | list | dict
    ):
        return _quoted(place, value, kind, spelling)
    if isinstance(value, str):
        return _unquoted(place, value, kind)
    if kind in {"int_type", "float_type"} and not isinstance(value, list | dict):
        return _no_number(place, value, spelling)
    return _no_list(place, value, spelling) if kind == "list_type" else ""


def _no_list(place: Place, value: Any, spelling: Mapping[Place, str]) -> str:
    if value is None:
        return "write [...] with at least one value"
    if not isinstance(value, dict | set):
        raw = spelling.get(place, str(value))
        if isinstance(value, bool):
            return f"YAML reads {raw} as {_said(value)}: write ['{raw}']"
        return f"write [{raw}]"
    return ""


def _quoted(place: Place, value: Any, kind: str, spelling: Mapping[Place, str]) -> str:
    raw = spelling.get((*place, KEY) if kind == "invalid_key" else place)
    also = " (or nob, for Norwegian)" if value is False and _about_languages(place) else ""
    if raw:
        return f"YAML reads {raw} as {_said(value)}: write '{raw}' in quotes{also}"
    if isinstance(value, bool):
        words = READ_AS[value]
        return f"YAML reads {words} as {_said(value)}: write '{words.split(',')[0]}' in quotes{also}"
    if value is None:
        return "YAML reads an empty value, null and ~ as nothing: give a value; such a word stands in quotes"
    # Files say how a value was written: this one is of the command line, where Snakemake strips quotes.
    return f"it was read as {_said(value)}: write such a word in quotes into a run config, or take another"


def _no_number(place: Place, value: Any, spelling: Mapping[Place, str]) -> str:
    if isinstance(value, float) and value.is_integer():
        return f"write {int(value)}"
    raw = spelling.get(place)
    return f"YAML reads {raw} as {_said(value)}: write a number" if raw else "write a number"


def _about_languages(place: Place) -> bool:
    return any(isinstance(p, str) and ("language" in p or p == "pool") for p in place)


def _said(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.date):
        return f"the date {value}"
    return f"the number {value}"


def _unquoted(place: Place, value: str, kind: str) -> str:
    """Return how to write what is text but should be a number, a list or a mapping."""
    parts = [p for p in _PARTS.split(value.strip("[] ")) if p]
    if place and isinstance(place[-1], int) and len(parts) > 1:
        return f"write [{', '.join(parts)}]"
    if kind == "list_type":
        return f"write [{', '.join(parts)}]"
    if kind in {"int_type", "int_parsing", "float_type", "float_parsing"}:
        try:
            number = float(value)
        except ValueError:
            return ""
        plain = str(int(number)) if number.is_integer() else repr(number)
        return (
            f"write {plain} without quotes"
            if value == plain
            else f"YAML reads {value} as a word: write {plain}"
        )
    if kind in {"dict_type", "model_type"} and place:
        return f"write {place[-1]}: {{KEY: VALUE}}"
    return ""


def typed_at(config: Any, place: Place, value: Any) -> bool:
    """Put what YAML reads in place of a text at a place of a config; return whether that is something else.

    Args:
        config: Mappings and lists, changed in place.
        place: Keys and numbers on the way to the value.
        value: The value that was found there.
    """
    if not isinstance(value, str) or OTHER_BASE.fullmatch(value):
        return False
    try:
        meant = yaml.safe_load(value)
    except yaml.YAMLError:
        return False
    *way, last = place
    for step in way:
        try:
            config = config[step]
        except (KeyError, IndexError, TypeError):
            return False
    if isinstance(meant, str) or not isinstance(config, dict | list):
        return False
    config[last] = meant
    return True
