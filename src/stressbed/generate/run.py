"""The generate stage: all answers that the variants of one dataset and one generator need."""

from __future__ import annotations

import contextlib
import json
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from stressbed.config.entries import GeneratorEntry, PromptEntry, Step, TransformationEntry
from stressbed.errors import ConfigError, suggest
from stressbed.fingerprint import digest
from stressbed.generate import VERSION
from stressbed.generate.asking import Asker, Attempt, LazyEngine
from stressbed.generate.assign import Assignment, assign
from stressbed.generate.completions import CompletionStore
from stressbed.generate.marks import Marks
from stressbed.generate.plan import Call, Planner
from stressbed.generate.request import Engine
from stressbed.generate.settle import settle
from stressbed.generate.tokens import TokenCounts
from stressbed.paths import Variant
from stressbed.rewrites import ABSENT
from stressbed.stopping import between_batches
from stressbed.store import write_parquet

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger("stressbed")

SCHEMA = pa.schema(
    [
        ("text_id", pa.int64()),
        ("step", pa.int64()),
        ("attempt", pa.int64()),
        ("key", pa.string()),
        ("prompt_id", pa.string()),
        ("language", pa.string()),
        ("text", pa.string()),
        ("finish", pa.string()),
        ("tokens_in", pa.int64()),
        ("tokens_out", pa.int64()),
        ("temperature", pa.float64()),
    ]
)
"""Columns of a completions file."""

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class GenerateStats:
    """What a generate job asked for.

    Attributes:
        requests_naive: First attempts if every transformation, seed and step were asked for itself.
        unique: First attempts that differ.
        reused: Requests, retries included, whose answer was in the store already.
        sent: First attempts that were sent.
        retried: Retries that were sent.
        too_long: Requests that were never sent, since they do not fit the model.
        refused: Different first attempts that, after all retries, were refused or filtered for what they say.
        broken: Those that no attempt gave a finished answer to.
        tokens_in: Prompt tokens of what was sent.
        tokens_out: Generated tokens.
        batches: Engine calls.
        seconds: Wall-clock time.
    """

    requests_naive: int
    unique: int
    reused: int
    sent: int
    retried: int
    too_long: int
    refused: int
    broken: int
    tokens_in: int
    tokens_out: int
    batches: int
    seconds: float


@dataclass(frozen=True)
class Work:
    """One variant and its texts."""

    variant: Variant
    entry: TransformationEntry
    assignment: Assignment
    ids: list[int]
    originals: list[str]
    sources: list[str]

    def languages(self, step: Step) -> list[str]:
        """Return the language that each text is asked in at a step."""
        if step.language == "source":
            return self.sources
        return [language or "und" for language in self.assignment.languages]


def generate(
    *,
    dataset: str,
    manifest: Mapping[str, Any],
    texts: pd.DataFrame,
    generator: GeneratorEntry,
    generator_identity: str,
    transformations: Sequence[TransformationEntry],
    prompts: Mapping[str, PromptEntry],
    seeds: Sequence[int],
    store_root: Path,
    outputs: Mapping[Variant, Path],
    open_engine: Callable[[], Engine],
) -> GenerateStats:
    """Write the completions file of each variant and return what that took.

    Args:
        dataset: Catalogue id.
        manifest: The frozen dataset's manifest.
        texts: The dataset's texts.
        generator: Catalogue entry of the generator.
        generator_identity: Hash of what decides its answers.
        transformations: Entries of the run's transformations.
        prompts: Catalogue prompts by id.
        seeds: The run's seeds.
        store_root: Root of the store.
        outputs: Where the completions of each variant go.
        open_engine: Opens the generator's engine; called only if tokens must be counted or something asked.

    Raises:
        EngineError: The engine failed; finished batches are kept.
        StoppedError: The job was asked to end; finished batches are kept.
        StoreError: A batch in the store is damaged.
    """
    started = time.perf_counter()
    entries = {t.id: t for t in transformations}
    works = [
        work_of(variant, _entry(variant, entries, seeds), dataset, manifest, texts)
        for variant in sorted(outputs)
    ]
    engine = LazyEngine(open_engine)
    counts = TokenCounts(store_root / "tokens" / generator_identity, engine.count_tokens)
    planner = Planner(generator, generator_identity, prompts, counts)
    store = CompletionStore(store_root / "completions" / generator_identity)
    with contextlib.closing(engine), between_batches() as stop:
        asker = Asker(
            planner=planner, store=store, engine=engine, stop=stop, name=f"{dataset} {generator.id}"
        )
        waves = ask_waves(works, planner, asker)
    for number, work in enumerate(works):
        rows = [row for wave in waves for row in wave[number]]
        _write(outputs[work.variant], rows, work, generator_identity, manifest)
    tally = asker.tally
    stats = GenerateStats(
        requests_naive=sum(len(rows) for wave in waves for rows in wave),
        unique=len(tally.unique), reused=tally.reused, sent=tally.sent, retried=tally.retried,
        too_long=tally.too_long, refused=asker.ended({"refused", "filtered"}),
        broken=asker.ended({"broken"}), tokens_in=tally.tokens_in,
        tokens_out=tally.tokens_out, batches=tally.batches, seconds=time.perf_counter() - started,
    )  # fmt: skip
    log.info("%s %s: %s", dataset, generator.id, stats)
    return stats


def _entry(
    variant: Variant, entries: Mapping[str, TransformationEntry], seeds: Sequence[int]
) -> TransformationEntry:
    if variant.transformation not in entries:
        raise ConfigError(
            f"no transformation {variant.transformation!r} among the job's entries",
            where=str(variant),
            allowed=", ".join(entries),
            do=suggest(variant.transformation, entries),
        )
    if variant.seed not in seeds:
        raise ConfigError(f"no seed {variant.seed} in this run", where=str(variant), allowed=str(list(seeds)))
    return entries[variant.transformation]


def work_of(
    variant: Variant,
    entry: TransformationEntry,
    dataset: str,
    manifest: Mapping[str, Any],
    texts: pd.DataFrame,
) -> Work:
    """Return a variant with the texts it touches and their drawn languages.

    Args:
        variant: The variant.
        entry: Its transformation.
        dataset: Catalogue id.
        manifest: Of the frozen dataset; its languages are drawn from.
        texts: `texts.parquet`.
    """
    a = assign(entry, variant.seed, dataset=dataset, texts=texts, languages=manifest["languages"])
    for subset, reason in a.absent.items():
        log.info("%s %s: subset %s is absent: %s", dataset, variant, subset, reason)
    return Work(
        variant, entry, a, a.texts["text_id"].tolist(), a.texts["text"].tolist(), a.texts["language"].tolist()
    )


Row = tuple[int, int, Call, list[Attempt]]
"""text_id, step, the variant's own planned call, all attempts at it."""


def ask_waves(works: Sequence[Work], planner: Planner, asker: Asker) -> list[list[list[Row]]]:
    """Return, by wave and variant, the attempts of each text that the wave asked about.

    The second wave is planned from the first one's answers, so it begins when all of them are there.
    """
    waves: list[list[list[Row]]] = []
    inputs = [list(zip(w.ids, w.originals, strict=True)) for w in works]
    for step in range(max((len(w.entry.steps) for w in works), default=0)):
        planned = [list(_plan(w, step, texts, planner)) for w, texts in zip(works, inputs, strict=True)]
        wanted = {call.key: (call, text) for plan in planned for _, text, call in plan}
        answers = asker.ask(wanted, f"step {step + 1}")
        waves.append([[(i, step + 1, call, answers[call.key]) for i, _, call in plan] for plan in planned])
        inputs = [
            _next_inputs(plan, answers, planner.marks) if step + 1 < len(w.entry.steps) else []
            for w, plan in zip(works, planned, strict=True)
        ]
    return waves


def _plan(
    work: Work, step: int, texts: Sequence[tuple[int, str]], planner: Planner
) -> Iterator[tuple[int, str, Call]]:
    """Yield (text_id, text, call) for each text that a variant asks about at a step."""
    if step >= len(work.entry.steps) or not texts:
        return
    what = work.entry.steps[step]
    language = dict(zip(work.ids, work.languages(what), strict=True))
    calls = planner.calls(what, [(text, language[i]) for i, text in texts], work.variant.seed)
    for (i, text), call in zip(texts, calls, strict=True):
        yield i, text, call


def _next_inputs(
    plan: Sequence[tuple[int, str, Call]], answers: Mapping[str, list[Attempt]], marks: Marks
) -> list[tuple[int, str]]:
    """Return (text_id, cleaned answer) of the texts that a further step can start from."""
    following = []
    for i, text, call in plan:
        settled = settle([(c.text, c.finish) for _, c in answers[call.key]], text, marks)
        if settled.usable:
            following.append((i, settled.cleaned.text))
    return following


def _write(path: Path, rows: Sequence[Row], work: Work, identity: str, manifest: Mapping[str, Any]) -> None:
    """Write a variant's completions, ordered by text, step and attempt."""
    columns: dict[str, list[Any]] = {name: [] for name in SCHEMA.names}
    for text_id, step, own, attempts in sorted(rows, key=lambda r: r[:2]):
        for call, c in attempts:
            values = (
                text_id, step, call.request.attempt, c.key, own.prompt_id, own.language,
                _SURROGATE.sub("\ufffd", c.text), c.finish, c.tokens_in, c.tokens_out,
                call.request.temperature,
            )  # fmt: skip
            for column, value in zip(columns.values(), values, strict=True):
                column.append(value)
    metadata = {
        ABSENT: json.dumps(work.assignment.absent, sort_keys=True),
        "stressbed.fingerprint": digest(
            [VERSION, identity, manifest["content_hash"], str(work.variant), columns["key"]]
        ),
    }
    table = pa.table(columns, schema=SCHEMA.with_metadata(metadata))
    write_parquet(path, table)
