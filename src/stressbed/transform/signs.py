"""Signs that an output is no rewrite; they stand beside the ten error flags and do not count among them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from stressbed.languages import is_known, language_of
from stressbed.transform.flags import words
from stressbed.transform.markers import Markers

SIGNS = ("echo", "answered", "repeated")
"""Names of the signs: the instruction stands there, a question is answered, others got the same output."""

_RUN = 6
"""So many words of an instruction in a row are an echo of it; a shorter one must be there as a whole."""

_QUESTION = re.compile(r"[?？؟;՞፧][\s\"'”’»)\]]*\Z")
_ASKS = re.compile(r"[?？؟;՞፧]")
_STEM = 4
"""Letters of a word that are compared: enough to tell words apart, few enough to survive an ending."""

MANY, SHARE = 3, 0.01
"""An output is repeated from so many different originals on, and from this share of all texts on."""

_ALIKE = 60.0
"""Originals that are so similar (0 to 100) count as one: equal captions have equal paraphrases."""


def refused(original: str, output: str, markers: Markers) -> bool:
    """Return whether an output says that there will be no rewrite.

    Not where the input says such a thing itself, in whatever language, or shares half of the words with
    which the output refuses.
    """
    said = markers.refusal(output)
    if not said or markers.mentions_refusal(original):
        return False
    stems = _stems(said)
    return len(stems & _stems(original)) < 0.5 * len(stems) or not stems


def echo(original: str, output: str, instruction: str) -> bool:
    """Return whether an output repeats the words of its instruction, which the input does not hold.

    Args:
        original: The input.
        output: The output.
        instruction: The prompt's words, with the language filled in.
    """
    told = _words(instruction)
    n = min(_RUN, len(told))
    runs = set(_runs(told, n))
    return bool(n and runs & set(_runs(_words(output), n)) - set(_runs(_words(original), n)))


def answered(original: str, output: str, source: str, target: str) -> bool:
    """Return whether a question was taken for one to the generator: no question, no word in common.

    Only within a language, and only where the question has at least two words that could be shared.
    """
    if not (is_known(source) and language_of(source) == language_of(target)):
        return False
    if not _QUESTION.search(original) or _ASKS.search(output) or not output:
        return False
    asked = _stems(original)
    return len(asked) >= 2 and not asked & _stems(output)


def repeated(originals: Sequence[str], outputs: Sequence[str]) -> list[bool]:
    """Return for each text of a variant whether many different texts got the same output.

    Outputs of one or two words are left out: greetings have one translation.

    Args:
        originals: The inputs.
        outputs: The output of each.
    """
    by_output: dict[str, dict[str, None]] = {}
    folded = [" ".join(o.casefold().split()) for o in outputs]
    for original, output in zip(originals, folded, strict=True):
        by_output.setdefault(output, {})[original] = None
    enough = max(MANY, SHARE * len(outputs))
    many = {o: words(o) > 2 and _different(given, enough) for o, given in by_output.items()}
    return [many[output] for output in folded]


def _different(texts: Mapping[str, None], enough: float) -> bool:
    """Return whether so many of the texts are unlike each other."""
    from rapidfuzz.fuzz import token_sort_ratio

    if len(texts) < enough:
        return False
    kept: list[str] = []
    for text in texts:
        if all(token_sort_ratio(text, other) < _ALIKE for other in kept):
            kept.append(text)
            if len(kept) >= enough:
                return True
    return False


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _runs(said: Sequence[str], n: int) -> Iterable[tuple[str, ...]]:
    return zip(*(said[i:] for i in range(n)), strict=False) if n else ()


def _stems(text: str) -> set[str]:
    """Return the beginnings of a text's longer words, and each letter of scripts that write no spaces."""
    found: set[str] = set()
    for word in _words(text):
        if any(c >= _DENSE_FROM for c in word):
            found.update(c for c in word if c >= _DENSE_FROM)
        elif len(word) >= _STEM:
            found.add(word[:_STEM])
    return found


_DENSE_FROM = "\u3041"
"""Kana, Chinese characters and Hangul stand from here on."""
