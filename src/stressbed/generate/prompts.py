"""From a prompt's words and a text to the messages that are sent."""

from __future__ import annotations

from stressbed.config.entries import PromptEntry
from stressbed.languages import english_name

SLOT = "{target_language}"


def instruction(prompt: PromptEntry, language: str) -> str:
    """Return the prompt's words with the language's English name filled in.

    Args:
        prompt: The catalogue entry.
        language: Tag of the language that the answer must be in.
    """
    return prompt.template.replace(SLOT, english_name(language))


def messages(prompt: PromptEntry, language: str, text: str) -> tuple[tuple[str, str], ...]:
    """Return the chat messages, as pairs of (role, content), that ask for one rewrite.

    The text is appended, never formatted: braces in it stay as they are. A prompt with the role
    `system` is a message of its own, before the text as the user's.
    """
    words = instruction(prompt, language)
    if prompt.role == "system":
        return (("system", words), ("user", text))
    return (("user", f"{words}{prompt.separator}{text}"),)
