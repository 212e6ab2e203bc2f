"""The ten error flags of a rewrite, as pure functions of the texts (HTEB, appendix A.2)."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from stressbed.scripts import letters
from stressbed.transform.languages import is_other_language
from stressbed.transform.markers import Markers, left_marks, new

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

_NAME = 3
"""Words of a name, at most."""

_DOTS, _ELLIPSES = frozenset(".。․"), frozenset("…⋯‥")


@dataclass(frozen=True)
class Thresholds:
    """Numbers of the rules; the defaults are the paper's where it gives one.

    Attributes:
        runaway: More than so many output words per input word.
        truncated: Less than this share of the input's words.
        truncated_from: Only inputs with more words than this.
        language_ratio: Another language must be so many times likelier than the expected one.
        language_letters: Outputs with fewer letters are not judged by language.
        excuse_input: Whether what the input holds too is no leak; False: the paper's words, which
            look at the output alone.
    """

    runaway: float = 5.0
    truncated: float = 0.2
    truncated_from: int = 3
    language_ratio: float = 3.0
    language_letters: int = 12
    excuse_input: bool = True


DEFAULT = Thresholds()


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


def flag(
    original: str,
    output: str,
    *,
    kind: Kind,
    language: str,
    markers: Markers,
    thresholds: Thresholds = DEFAULT,
) -> Flags:
    """Return the ten flags of an output after post-processing.

    Args:
        original: The text that was to be rewritten.
        output: The rewrite.
        kind: Which length rules apply.
        language: Tag of the language that the output should be in.
        markers: What reasoning and labels look like.
        thresholds: Numbers of the rules.
    """
    excuse = thresholds.excuse_input
    n_in, n_out = words(original), words(output)
    return Flags(
        identical=identical(original, output),
        empty=empty(output),
        ellipsis=ellipsis(output),
        json_fragment=json_fragment(original, output, excuse=excuse),
        reasoning_leak=reasoning_leak(original, output, markers, excuse=excuse),
        prefix_leak=prefix_leak(original, output, markers, excuse=excuse),
        wrong_language=wrong_language(output, language, thresholds, original=original),
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
    """Return whether the output is the input, apart from case and surrounding whitespace.

    Composed and decomposed accents are the same, and so are the Turkish i with and without a dot, whose
    upper and lower case differ from other languages' (`IŞIK`, `ışık`).
    """
    return _folded(original) == _folded(output)


def empty(output: str) -> bool:
    """Return whether the output shows nothing: whitespace and invisible characters at most."""
    return all(c.isspace() or unicodedata.category(c) in {"Cc", "Cf"} for c in output)


def ellipsis(output: str) -> bool:
    """Return whether the output is nothing but dots: `..`, `...`, `…`, or what other scripts have."""
    marks = "".join(output.split())
    return set(marks) <= _DOTS | _ELLIPSES and (len(marks) > 1 or marks in _ELLIPSES)


def json_fragment(original: str, output: str, *, excuse: bool = True) -> bool:
    """Return whether the output begins with `{` or `[`.

    With `excuse`, not where the input begins with the same one: the rewrite of `[1] A man ...` or of a
    JSON text may, and the generator is not to blame for it.
    """
    start = output.lstrip()[:1]
    return start in {"{", "["} and not (excuse and original.lstrip().startswith(start))


def reasoning_leak(original: str, output: str, markers: Markers, *, excuse: bool = True) -> bool:
    """Return whether the output holds a marker of reasoning that the input does not account for.

    A mark of a generator that post-processing does not know is one too.
    """
    return new(markers.reasons, original, output, excuse=excuse) or new(
        left_marks, original, output, excuse=excuse
    )


def prefix_leak(original: str, output: str, markers: Markers, *, excuse: bool = True) -> bool:
    """Return whether the output begins with a label such as `Summary:` that the input does not have."""
    return new(markers.labels, original, output, excuse=excuse)


def wrong_language(
    output: str, language: str, thresholds: Thresholds = DEFAULT, *, original: str = ""
) -> bool:
    """Return whether the output is clearly in another language than asked for; unknown is not wrong.

    Names are the same in many languages: a text of one to three words, all of them capitalised and in
    the input too (`Angela Merkel`), is not judged, and neither is one in which little else stands beside
    such words (`Barack Obama et Donald Trump`), unless it is the input again.
    """
    given = set(original.split())
    rest = [p for p in output.split() if p not in given or not any(map(str.isupper, p))]
    if not rest and len(output.split()) <= _NAME:
        return False
    few = letters(" ".join(rest)).total() < thresholds.language_letters
    if given and few and not identical(original, output):
        return False
    return is_other_language(
        output, language, ratio=thresholds.language_ratio, min_letters=thresholds.language_letters
    )


def runaway(n_in: int, n_out: int, kind: Kind, factor: float = DEFAULT.runaway) -> bool:
    """Return whether an output has more than `factor` times the input's words; never for expanding kinds."""
    return kind != "expand" and n_out > factor * max(n_in, 1)


def truncated(
    n_in: int,
    n_out: int,
    kind: Kind,
    share: float = DEFAULT.truncated,
    longer_than: int = DEFAULT.truncated_from,
) -> bool:
    """Return whether an output has less than `share` of the input's words.

    Never for summaries, nor for inputs of `longer_than` words or fewer.
    """
    return kind != "summarise" and n_in > longer_than and n_out < share * n_in


def summary_too_long(n_in: int, n_out: int, kind: Kind) -> bool:
    """Return whether a summary has more words than its input."""
    return kind == "summarise" and n_out > n_in


def _folded(text: str) -> str:
    # A dot above (U+0307) is what is left of the Turkish capital I with a dot after case folding.
    folded = unicodedata.normalize("NFD", text.strip().casefold()).replace("i\u0307", "i")
    return folded.replace("ı", "i")
