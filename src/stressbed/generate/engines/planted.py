"""An engine without a model, for runs with a known truth: a text keeps its words and gets a mark."""

from __future__ import annotations

from collections.abc import Sequence

from stressbed.config.entries import GeneratorEntry
from stressbed.config.planted import wrong_marks
from stressbed.errors import EngineError
from stressbed.fingerprint import text_digest
from stressbed.generate.request import ChatRequest, Completion


class PlantedEngine:
    """Answers with the text, a mark `@name` that tells its prompt, and a word `#hash` of the request.

    The mark is what the embedders of backend `planted` know a rewritten text by. The hash makes answers
    to different requests different, so that seeds matter wherever the temperature is above 0, as they do
    with an LLM.

    Args:
        entry: The generator's entry. `engine_options`: mark -> the words that its prompt begins with.

    Raises:
        ConfigError: The marks could not tell one prompt from another.
    """

    def __init__(self, entry: GeneratorEntry) -> None:
        self.where = f"generator {entry.id!r}, key 'engine_options'"
        for problem in wrong_marks(entry.engine_options, self.where):
            raise problem
        self.marks = {mark: str(words) for mark, words in entry.engine_options.items()}

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of words of each text."""
        return [len(text.split()) for text in texts]

    def complete(self, requests: Sequence[ChatRequest], keys: Sequence[str]) -> list[Completion]:
        """Return the marked text of each request, in order.

        Raises:
            EngineError: A prompt begins with none of the words, or a rating is asked for.
        """
        return [self._answer(r, k) for r, k in zip(requests, keys, strict=True)]

    def close(self) -> None:
        """Do nothing: there is nothing to give back."""

    def _answer(self, request: ChatRequest, key: str) -> Completion:
        if request.choices:
            raise EngineError("engine 'planted' rates nothing", do="take another generator as judge")
        said = "\n\n".join(content for _, content in request.messages)
        text = said.rpartition("\n\n")[2]
        # Not the key: it holds the generator's identity, and a label must not change a text.
        words = [*text.split(), f"@{self._mark(said)}", f"#{text_digest(request.key('planted'))[:8]}"]
        cut = len(words) > request.max_tokens
        words = words[: request.max_tokens]
        tokens_in = self.count_tokens([said])[0]
        return Completion(key, " ".join(words), "length" if cut else "stop", tokens_in, len(words))

    def _mark(self, prompt: str) -> str:
        for mark, beginning in self.marks.items():
            if prompt.startswith(beginning):
                return mark
        raise EngineError(
            f"no mark belongs to the prompt {prompt[:60]!r}",
            where=self.where,
            allowed=", ".join(f"{m}: {b!r}" for m, b in self.marks.items()),
            do="add a mark with the words that this prompt begins with",
        )
