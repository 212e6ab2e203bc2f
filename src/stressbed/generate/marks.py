"""Marks around what a generator thinks and around its answer: which are known, and how they are taken off."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from stressbed.config.entries import GeneratorEntry, MarkPair

_HOW = re.IGNORECASE | re.DOTALL


@dataclass(frozen=True)
class Pair:
    """An opening and a closing mark.

    Attributes:
        opening: Pattern of the opening mark.
        closing: Pattern of the closing mark.
        lone: Whether a closing mark without an opening one says something: what stands before it is
            thinking (a template may have opened it), or is the answer.
        whole: Whether an answer is taken out only where the marks enclose all of it.
    """

    opening: re.Pattern[str]
    closing: re.Pattern[str]
    lone: bool = True
    whole: bool = False

    @classmethod
    def of(cls, opening: str, closing: str, *, lone: bool = True, whole: bool = False) -> Pair:
        """Return a pair from two regular expressions; case does not matter."""
        return cls(re.compile(opening, _HOW), re.compile(closing, _HOW), lone, whole)

    @classmethod
    def literal(cls, pair: MarkPair) -> Pair:
        """Return a pair that a generator's entry names; a blank line as closing mark says nothing alone."""
        return cls.of(re.escape(pair.open), re.escape(pair.close), lone=bool(pair.close.strip()))

    def known_to(self, text: str) -> bool:
        """Return whether a text has such marks itself."""
        return bool(self.opening.search(text) or (self.lone and self.closing.search(text)))

    def without(self, text: str, until: re.Pattern[str]) -> str:
        """Return a text without what the marks enclose.

        What is nested goes too, and so does everything before a lone closing mark and after an opening one
        that was never closed.

        Args:
            text: The text.
            until: What ends a block that was never closed.
        """
        kept, at = "", 0
        for opened in self.opening.finditer(text):
            if opened.start() < at:
                continue
            closed = self.closing.search(text, opened.end())
            kept += text[at : opened.start()]
            if closed is None:
                closed = until.search(text, opened.end())
                at = len(text) if closed is None else closed.start()
            else:
                at = closed.end()
        text = kept + text[at:]
        if self.lone:
            *_, last = [0, *(m.end() for m in self.closing.finditer(text))]
            text = text[last:]
        return text

    def inside(self, text: str) -> str:
        """Return what the last pair of marks encloses; the text itself where there is none."""
        opened = list(self.opening.finditer(text))
        if self.whole and not (opened and not text[: opened[0].start()].strip() and self._ends(text)):
            return text
        if not opened:
            before = self.closing.split(text, maxsplit=1)[0] if self.lone else text
            return before if before.strip() else text
        inner = self.closing.split(text[opened[-1].end() :], maxsplit=1)[0]
        return inner if inner.strip() else self.closing.sub("", self.opening.sub("", text))

    def _ends(self, text: str) -> bool:
        closed = list(self.closing.finditer(text))
        return not closed or (len(closed) == 1 and not text[closed[0].end() :].strip())


_THINKING = (
    r"(?:think(?:ing)?|thoughts?|(?:thought|thinking|reasoning)_process|reason(?:ing)?|rationale|analysis"
    r"|reflections?|scratch_?pad|(?:inner_|internal_)?(?:monologue|thoughts?|reasoning)|internal|chain_of_thought|cot"
    r"|deliberation|plan(?:ning)?|思考|réflexion|raisonnement|razonamiento|pensamiento)"
)
_ANSWER = (
    r"(?:(?:final_)?(?:answer|response|output|solution)|rewrite|rewritten(?:_\w+)?|paraphrased?(?:_\w+)?"
    r"|rephrased(?:_\w+)?|translated(?:_\w+)?|expanded(?:_\w+)?|summari[sz]ed(?:_\w+)?)"
)
_PERHAPS = r"(?:text|sentence|result|final|conclusion|content|summary|translation|expansion)"


_LESS, _MORE = "(?:<|&lt;)", "(?:>|&gt;)"


def _tag(words: str) -> tuple[str, str]:
    """Return the marks of tags: `<think>`, `< thinking budget="9">`, `</seed:think>`, `&lt;think&gt;` ..."""
    name = rf"(?:\w+[:_])?{words}(?:_(?:fast|faster|mode))?"
    return rf"{_LESS}\s*{name}\b[^<>&]*(?<!/){_MORE}", rf"{_LESS}\s*[/\\]\s*{name}\s*{_MORE}"


def _bracket(words: str) -> tuple[str, str]:
    """Return the marks of brackets: `[THINK]`, `[/THINK]`."""
    return rf"\[{words}\]", rf"\[/{words}\]"


def _token(words: str) -> tuple[str, str]:
    """Return the marks of special tokens: `<|begin_of_thought|>`, `<|START_RESPONSE|>`, `<|think|>` ..."""
    begin = rf"<\|(?:(?:begin|start)_(?:of_)?)?{words}(?:_(?:begin|start))?\|>"
    return begin, rf"<\|(?:/{words}|end_(?:of_)?{words}|{words}_end)\|>"


KNOWN_THINKING: tuple[Pair, ...] = (
    Pair.of(*_tag(_THINKING)),
    Pair.of(*_bracket(_THINKING)),
    Pair.of(rf"【{_THINKING}】", rf"【/{_THINKING}】"),
    Pair.of(rf"◁\s*{_THINKING}\s*▷", rf"◁\s*/\s*{_THINKING}\s*▷"),
    Pair.of(*_token(_THINKING)),
    Pair.of(r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
    Pair.of(r"<\|channel>\s*(?:thought|thinking|analysis)\b", r"<channel\|>"),
    # The end of this one ends other turns as well, so that it says nothing alone.
    Pair.of(
        r"(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)<\|message\|>",
        r"<\|end\|>|(?=<\|channel\|>final)",
        lone=False,
    ),
    Pair.of(r"\A\s*here is my thought process:", r"\n\s*here is my response:", lone=False),
    Pair.of(r"\A\s*thinking\.\.\.[ \t]*\n", r"\n\s*\.\.\.done thinking\.", lone=False),
    Pair.of(rf"\A\s*```{_THINKING}[ \t]*\n", r"\n```", lone=False),
    Pair.of(r"\A\s*<details type=[\"']reasoning[^<>]*>", "</details>", lone=False),
    Pair.of(r"<unused94>", r"<unused95>"),
    # What is left of channels where the tokens between them are taken out.
    Pair.of(r"\Aanalysis(?=\S)(?=.*assistantfinal)", "assistantfinal", lone=False),
)
"""Marks of thinking: tags, brackets, special tokens and channels, as public chat templates have them."""

KNOWN_ANSWERS: tuple[Pair, ...] = (
    Pair.of(*_tag(_ANSWER)),
    Pair.of(*_bracket(r"(?:final|answer|output|response)")),
    Pair.of(*_token(rf"(?:{_ANSWER}|box|content)")),
    Pair.of(*_tag(_PERHAPS), lone=False, whole=True),
)
"""Marks of an answer. Those that texts have for other reasons count only around the whole answer."""


@dataclass(frozen=True)
class Marks:
    """The marks that are taken off the answers of a generator.

    Attributes:
        thinking: Around what is no part of the answer.
        answers: Around the answer.
    """

    thinking: Sequence[Pair] = field(default=KNOWN_THINKING)
    answers: Sequence[Pair] = field(default=KNOWN_ANSWERS)

    @classmethod
    def of(cls, generator: GeneratorEntry) -> Marks:
        """Return the known marks and, before them, those that a generator's entry names."""
        return cls(
            (*map(Pair.literal, generator.thinking_marks), *KNOWN_THINKING),
            (*map(Pair.literal, generator.answer_marks), *KNOWN_ANSWERS),
        )


KNOWN = Marks()
"""The marks of a generator whose entry names none."""
