"""What a generator will be asked: the stage's own planning, with made-up answers where there is none yet.

The same code as in a job plans, shares and retries; only where a job would send a request, it gets an
answer that says nothing and differs from all others. So the number of first requests of one-step
transformations is exact; that of a second step is too where all first answers are there, and otherwise
an upper bound, since two answers may turn out equal. Retries are not foreseen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stressbed.config.entries import GeneratorEntry, PromptEntry, TransformationEntry
from stressbed.generate.asking import Asker, LazyEngine
from stressbed.generate.completions import CompletionStore
from stressbed.generate.plan import TEMPLATE_TOKENS, Call, Planner
from stressbed.generate.prompts import instruction
from stressbed.generate.request import Completion, Engine
from stressbed.generate.run import Row, Work, ask_waves, work_of
from stressbed.generate.settle import settle
from stressbed.paths import Variant
from stressbed.plan.assumptions import Assumptions
from stressbed.plan.sample import CLOSE, OPEN, Sample
from stressbed.plan.tokens import Tokens
from stressbed.stopping import Stop
from stressbed.store import read_parquet

SUMS = (
    "unique", "shared", "done", "tokens_in", "text_tokens", "tokens_out", "left_in", "left_text", "left_out",
)  # fmt: skip
"""Sums over requests, fields of `Asked`."""


@dataclass(frozen=True)
class Asked:
    """What a generator is asked for the variants of one dataset.

    Attributes:
        naive: First requests if every variant and step asked for itself.
        unique: Those that differ.
        shared: Of these, asked for another dataset of the run too, which comes first.
        done: Of these, answered, no retry pending.
        tokens_in: Prompt tokens of all that differ and are not shared.
        text_tokens: Of these, those that are not the same instruction again.
        tokens_out: Tokens of their answers.
        left_in: Prompt tokens of what is left to be sent.
        left_text: Of these, those of texts.
        left_out: Tokens of the answers that are not there.
        exact: Whether `unique` is a count.
        rewrites: Of each variant, text id -> its new text, made up or answered.
        tokens: Tokens of made-up texts.
    """

    naive: float
    unique: float
    shared: float
    done: float
    tokens_in: float
    text_tokens: float
    tokens_out: float
    left_in: float
    left_text: float
    left_out: float
    exact: bool
    rewrites: dict[Variant, dict[int, str]]
    tokens: dict[str, int]

    @property
    def to_send(self) -> float:
        """Return the requests that are this dataset's own: shared ones are counted where they come first."""
        return self.unique - self.shared

    @property
    def finished(self) -> bool:
        """Whether nothing is left to be sent."""
        return self.done >= self.to_send


class Answers(CompletionStore):
    """The answers that are there: in the store, else in completions files; nothing is ever written.

    Args:
        folder: The generator's folder in the store.
        files: Completions files of a run, which hold the same answers.
    """

    def __init__(self, folder: Path, files: Iterable[Path] = ()) -> None:
        super().__init__(folder)
        self._loaded: dict[str, Completion] | None = None
        self._paths = [p for p in files if p.is_file()]

    def put_batch(self, completions: Sequence[Completion]) -> None:
        """Keep nothing: a forecast changes no results."""

    def get_many(self, keys: Iterable[str]) -> dict[str, Completion]:
        """Return the completions that are there, by key, in order of the keys."""
        wanted = list(dict.fromkeys(keys))
        found = super().get_many(wanted)
        if len(found) < len(wanted) and self._paths:
            files = self._of_files()
            found |= {k: files[k] for k in wanted if k not in found and k in files}
        return {k: found[k] for k in wanted if k in found}

    def _of_files(self) -> dict[str, Completion]:
        if self._loaded is None:
            names = ["key", "text", "finish", "tokens_in", "tokens_out"]
            self._loaded = {}
            for path in self._paths:
                columns = [c.to_pylist() for c in read_parquet(path, columns=names).select(names)]
                rows = zip(*columns, strict=True)
                self._loaded |= {key: Completion(key, *rest) for key, *rest in rows}
        return self._loaded

    def _save_index(self) -> None:
        """Keep the index in memory."""


class _Rehearsal(Asker):
    """Asks the store; makes up what it does not have."""

    def __init__(
        self, planner: Planner, store: CompletionStore, tokens: Tokens, sample: Sample, assumed: Assumptions
    ) -> None:
        engine = LazyEngine(_no_engine)
        super().__init__(planner=planner, store=store, engine=engine, stop=Stop(), name=sample.dataset)
        self.made_up: set[str] = set()
        self.text_of: dict[str, str] = {}
        self._tokens, self._assumed = tokens, assumed
        self._languages = sample.languages
        tokens.languages = self._languages

    def ask(
        self, wanted: Mapping[str, tuple[Call, str]], what: str
    ) -> dict[str, list[tuple[Call, Completion]]]:
        """Return all attempts at each first call, in order."""
        self.text_of |= {key: text for key, (_, text) in wanted.items()}
        return super().ask(wanted, what)

    def _send(self, calls: Sequence[Call], what: str) -> list[tuple[str, Completion]]:  # noqa: ARG002
        return [(call.key, self._made_up(call)) for call in calls]

    def _made_up(self, call: Call) -> Completion:
        text = self.text_of.get(call.key, "")
        name = f"{OPEN}{call.key}{CLOSE}"
        source = self._languages.get(text, call.language)
        size = self._tokens([text])[0] if text else max(1, call.tokens - TEMPLATE_TOKENS)
        limit = call.request.max_tokens
        tokens_out = self._assumed.answer_tokens(call.prompt_id, size, source, call.language, limit)
        self.made_up.add(call.key)
        self._tokens.given[name] = tokens_out
        self._languages[name] = call.language
        return Completion(call.key, name, "stop", call.tokens - TEMPLATE_TOKENS, tokens_out)


def asked(
    *,
    sample: Sample,
    generator: GeneratorEntry,
    identity: str,
    transformations: Sequence[TransformationEntry],
    seeds: Sequence[int],
    prompts: Mapping[str, PromptEntry],
    tokens: Tokens,
    answers: Answers,
    assumed: Assumptions,
    earlier: set[str],
) -> Asked:
    """Return what a generator is asked for all variants of a dataset, and what of it is done.

    Args:
        sample: The dataset's texts.
        generator: The generator's entry.
        identity: Its identity.
        transformations: Entries of the transformations.
        seeds: The seeds.
        prompts: Catalogue prompts by id.
        tokens: The generator's token counts.
        answers: The answers that are there.
        assumed: Lengths of answers that are not.
        earlier: Keys that were asked for other datasets; this dataset's are added.
    """
    tokens.given = dict(sample.tokens)
    variants = [(Variant(generator.id, t.id, s), t) for t in transformations for s in seeds]
    works = [work_of(v, t, sample.dataset, sample.manifest, sample.texts) for v, t in variants]
    planner = Planner(generator, identity, prompts, tokens)
    rehearsal = _Rehearsal(planner, answers, tokens, sample, assumed)
    waves = ask_waves(works, planner, rehearsal)
    weights = dict(zip(sample.texts["text_id"].tolist(), sample.texts["weight"].tolist(), strict=True))
    tally = _Tally(weights, rehearsal.made_up, prompts, tokens, earlier)
    for wave in waves:
        for rows in wave:
            tally.add(rows)
    second = any(len(t.steps) > 1 for t in transformations)
    counted = sample.how == "counted" and not (second and rehearsal.made_up)
    finals = {w.variant: _final(n, w, waves, rehearsal) for n, w in enumerate(works)}
    earlier |= tally.seen
    scale = sample.occurrences / len(sample.texts) if len(sample.texts) else 0.0
    return Asked(
        naive=scale * sum(len(rows) for wave in waves for rows in wave),
        exact=counted,
        rewrites=finals,
        tokens=tokens.given,
        **tally.sums,
    )


class _Tally:
    """Sums over the requests that differ, each counted for the texts that it stands for."""

    def __init__(
        self,
        weights: Mapping[int, float],
        made_up: set[str],
        prompts: Mapping[str, PromptEntry],
        tokens: Tokens,
        earlier: set[str],
    ) -> None:
        self.sums = dict.fromkeys(SUMS, 0.0)
        self.seen: set[str] = set()
        self._weights, self._made_up, self._prompts, self._tokens = weights, made_up, prompts, tokens
        self._earlier = earlier
        self._overheads: dict[tuple[str, str], int] = {}

    def add(self, rows: Sequence[Row]) -> None:
        """Count the requests of one variant's wave that were not counted before."""
        for text_id, _, first, attempts in rows:
            if first.key in self.seen:
                continue
            self.seen.add(first.key)
            weight = self._weights[text_id]
            self.sums["unique"] += weight
            if first.key in self._earlier:
                self.sums["shared"] += weight
                continue
            if not any(call.key in self._made_up for call, _ in attempts):
                self.sums["done"] += weight
            for call, completion in attempts:
                self._add_tokens(call, completion, weight)

    def _add_tokens(self, call: Call, completion: Completion, weight: float) -> None:
        if completion.finish == "too_long":
            return  # never sent
        shared = self._overhead(call)
        text = max(0, completion.tokens_in - shared)
        self.sums["tokens_in"] += weight * completion.tokens_in
        self.sums["text_tokens"] += weight * text
        self.sums["tokens_out"] += weight * completion.tokens_out
        if call.key in self._made_up:
            self.sums["left_in"] += weight * completion.tokens_in
            self.sums["left_text"] += weight * text
            self.sums["left_out"] += weight * completion.tokens_out

    def _overhead(self, call: Call) -> int:
        """Return the tokens of a call's instruction, which all of its kind share."""
        place = (call.prompt_id, call.language)
        if place not in self._overheads:
            prompt = self._prompts[call.prompt_id]
            self._overheads[place] = self._tokens([instruction(prompt, call.language) + prompt.separator])[0]
        return self._overheads[place]


def _final(
    number: int, work: Work, waves: Sequence[Sequence[Sequence[Row]]], rehearsal: _Rehearsal
) -> dict[int, str]:
    """Return a variant's new text by text id; where the last step has no answer, the text stays as it is."""
    rows = [row for wave in waves[: len(work.entry.steps)] for row in wave[number]]
    steps = len(work.entry.steps)
    out: dict[int, str] = {}
    for text_id, step, first, attempts in rows:
        if step == steps:
            call, last = attempts[-1]
            if call.key in rehearsal.made_up:
                out[text_id] = last.text  # it is clean
                continue
            given = rehearsal.text_of[first.key]
            settled = settle([(c.text, c.finish) for _, c in attempts], given, rehearsal.planner.marks)
            if settled.usable:
                out[text_id] = settled.cleaned.text
    return out


def _no_engine() -> Engine:
    raise AssertionError("a forecast opens no engine")
