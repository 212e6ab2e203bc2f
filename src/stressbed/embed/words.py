"""Words of a text in any script, for the sparse embedders."""

from __future__ import annotations

from icu4py.breakers import WordBreaker


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, in order.

    Words are found by Unicode segmentation, with ICU's dictionaries for scripts that write
    without spaces (Chinese, Japanese, Thai, Khmer ...). Punctuation and symbols are no words.
    """
    # Half a surrogate pair is no character, and ICU refuses it.
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return [part.casefold() for part in WordBreaker(clean, "en") if any(c.isalnum() for c in part)]
