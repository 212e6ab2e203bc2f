"""The ten error flags of a rewrite, as pure functions of the texts (HTEB, appendix A.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Literal

import yaml

from stressbed.transform.languages import is_other_language

Kind = Literal["rewrite", "summarise", "expand"]

FLAGS = (
    "identical",
    "empty",
    "ellipsis",
    "json_fragment",
    "reasoning_leak",
    "prefix_leak",
    "wrong_language",
    "runaway",
    "truncated",
    "summary_too_long",
)
"""Names of the flags, in the paper's order."""


@dataclass(frozen=True)
class Thresholds:
    """Numbers of the rules; the defaults are the paper's where it gives one.

    Attributes:
        runaway: More than so many output words per input word.
        truncated: Less than this share of the input's words.
        truncated_from: Only inputs with more words than this.
        language_ratio: Another language must be so many times likelier than the expected one.
        language_letters: Outputs with fewer letters are not judged by language.
    """

    runaway: float = 5.0
    truncated: float = 0.2
    truncated_from: int = 3
    language_ratio: float = 3.0
    language_letters: int = 12


PAPER = Thresholds()


@dataclass(frozen=True)
class Flags:
    """The ten flags of one rewrite."""

    identical: bool
    empty: bool
    ellipsis: bool
    json_fragment: bool
    reasoning_leak: bool
    prefix_leak: bool
    wrong_language: bool
    runaway: bool
    truncated: bool
    summary_too_long: bool

    @property
    def any(self) -> bool:
        """Whether at least one is set."""
        return any(getattr(self, name) for name in FLAGS)


NOT_JUDGED = Flags(*[False] * len(FLAGS))
"""The flags of a text that was never sent to the generator."""


def flag(original: str, output: str, *, kind: Kind, language: str, thresholds: Thresholds = PAPER) -> Flags:
    """Return the ten flags of an output after post-processing.

    Args:
        original: The text that was to be rewritten.
        output: The rewrite.
        kind: Which length rules apply.
        language: Tag of the language that the output should be in.
        thresholds: Numbers of the rules.
    """
    n_in, n_out = words(original), words(output)
    return Flags(
        identical=identical(original, output),
        empty=not output.strip(),
        ellipsis=ellipsis(output),
        json_fragment=json_fragment(output),
        reasoning_leak=reasoning_leak(original, output),
        prefix_leak=prefix_leak(original, output),
        wrong_language=wrong_language(output, language, thresholds),
        runaway=runaway(n_in, n_out, kind, thresholds.runaway),
        truncated=truncated(n_in, n_out, kind, thresholds.truncated, thresholds.truncated_from),
        summary_too_long=summary_too_long(n_in, n_out, kind),
    )


@lru_cache(maxsize=100_000)
def words(text: str) -> int:
    """Return the number of words by Unicode segmentation (UAX 29, with ICU's dictionaries).

    Scripts without spaces (Japanese, Chinese, Thai, Khmer ...) are segmented by dictionary; pieces
    without a letter or digit are not words.
    """
    if not text:
        return 0
    from icu4py.breakers import WordBreaker

    return sum(any(map(str.isalnum, piece)) for piece in WordBreaker(text, "en"))


def identical(original: str, output: str) -> bool:
    """Return whether the output is the input, apart from case and surrounding whitespace."""
    return original.strip().casefold() == output.strip().casefold()


def ellipsis(output: str) -> bool:
    """Return whether the output is nothing but dots: `..`, `...`, `…`."""
    return re.fullmatch(r"(?:\.{2,}|…|\s)+", output) is not None and not output.isspace()


def json_fragment(output: str) -> bool:
    """Return whether the output begins with `{` or `[`."""
    return output.lstrip().startswith(("{", "["))


def reasoning_leak(original: str, output: str) -> bool:
    """Return whether the output holds a marker of reasoning that the input does not hold."""
    seen = {m.casefold() for m in markers()["reasoning"].findall(_plain(original))}
    return any(m.casefold() not in seen for m in markers()["reasoning"].findall(_plain(output)))


def prefix_leak(original: str, output: str) -> bool:
    """Return whether the output begins with a label such as `Summary:` that the input does not begin with."""
    match = markers()["prefixes"].match(_plain(output))
    if match is None:
        return False
    before = markers()["prefixes"].match(_plain(original))
    return before is None or before[0].strip().casefold() != match[0].strip().casefold()


def wrong_language(output: str, language: str, thresholds: Thresholds = PAPER) -> bool:
    """Return whether the output is clearly in another language than asked for; unknown is not wrong."""
    return is_other_language(
        output, language, ratio=thresholds.language_ratio, min_letters=thresholds.language_letters
    )


def runaway(n_in: int, n_out: int, kind: Kind, factor: float = PAPER.runaway) -> bool:
    """Return whether an output has more than `factor` times the input's words; never for expanding kinds."""
    return kind != "expand" and n_out > factor * max(n_in, 1)


def truncated(
    n_in: int,
    n_out: int,
    kind: Kind,
    share: float = PAPER.truncated,
    longer_than: int = PAPER.truncated_from,
) -> bool:
    """Return whether an output has less than `share` of the input's words.

    Never for summaries, nor for inputs of `longer_than` words or fewer.
    """
    return kind != "summarise" and n_in > longer_than and n_out < share * n_in


def summary_too_long(n_in: int, n_out: int, kind: Kind) -> bool:
    """Return whether a summary has more words than its input."""
    return kind == "summarise" and n_out > n_in


@lru_cache(maxsize=1)
def markers() -> dict[str, re.Pattern[str]]:
    """Return the compiled lists of `markers.yaml`."""
    lists = yaml.safe_load((files("stressbed.transform") / "markers.yaml").read_text(encoding="utf-8"))
    reasoning, prefixes = ("|".join(f"(?:{p})" for p in lists[k]) for k in ("reasoning", "prefixes"))
    return {
        "reasoning": re.compile(rf"(?<!\w)(?:{reasoning})(?!\w)", re.IGNORECASE),
        "prefixes": re.compile(rf"[\s*#_>-]*(?:{prefixes})[\s*_]*[:：]", re.IGNORECASE),
    }


def _plain(text: str) -> str:
    return text.replace("’", "'").replace("ʼ", "'")
