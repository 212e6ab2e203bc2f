"""Web pages in one file: what their policy allows, and data that cannot break out of a script element."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping


def allowed(source: str) -> str:
    """Return the source expression by which a Content-Security-Policy allows this script or style alone."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def harmless(json_text: str) -> str:
    """Return JSON that cannot end the script element it stands in, with the same values.

    U+2028 and U+2029 end a line of JavaScript, though JSON allows them in a string.
    """
    for character in "<>&\u2028\u2029":
        json_text = json_text.replace(character, f"\\u{ord(character):04x}")
    return json_text


def filled(page: str, slots: Mapping[str, str]) -> str:
    """Return a page with each slot replaced, in the mapping's order.

    Args:
        page: The template.
        slots: Value by slot (`@TITLE@`). Those whose value may hold another slot's name come last.
    """
    for slot, value in slots.items():
        page = page.replace(slot, value)
    return page
