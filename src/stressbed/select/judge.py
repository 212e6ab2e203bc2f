"""One judge rates the rewrites of one generator: a request, an answer and a rating per rewrite."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import pyarrow as pa

from stressbed.config.entries import GeneratorEntry, JudgePromptEntry, TransformationEntry
from stressbed.fingerprint import digest
from stressbed.generate.asking import LazyEngine, Tally, ask_once
from stressbed.generate.clean import clean
from stressbed.generate.completions import CompletionStore
from stressbed.generate.request import NO_ANSWER, ChatRequest, Completion, Engine
from stressbed.languages import english_name, is_known
from stressbed.paths import variant_of_path
from stressbed.select import VERSION
from stressbed.stopping import between_batches
from stressbed.store import read_parquet, write_parquet

log = logging.getLogger("stressbed")

Rating = Literal["choice", "expected"]

SCHEMA = pa.schema(
    [
        ("judge", pa.string()),
        ("generator", pa.string()),
        ("transformation", pa.string()),
        ("subset", pa.string()),
        ("split", pa.string()),
        ("row", pa.string()),
        ("field", pa.string()),
        ("position", pa.int64()),
        ("text_id", pa.int64()),
        ("original", pa.string()),
        ("rating", pa.float64()),
        ("choice", pa.int64()),
        ("reason", pa.string()),
        ("probabilities", pa.list_(pa.float64())),
        ("key", pa.string()),
    ]
)
"""Columns of a ratings file. Without a rating, `rating` is NaN, `choice` null, and `reason` says why."""

_COPIED = ("subset", "split", "row", "field", "position", "text_id", "original")
_READ = [*_COPIED, "source_language", "target_language", "text"]
_SLOT = re.compile(r"\{(task|original|rewrite|source_language|target_language)\}")
_UNKNOWN = "the same language as the text"


@dataclass(frozen=True)
class JudgeStats:
    """What a judge's job asked and got.

    Attributes:
        ratings: Rewrites that were to be rated.
        unique: Requests that differ.
        reused: Requests whose answer was in the store.
        sent: Requests that were sent.
        missing: Rewrites without a rating.
        unparsable: Of these, answers that hold no rating.
        too_long: Of these, prompts that do not fit the judge.
        unanswered: Of these, prompts that were refused, or got no finished answer.
        unguided: Ratings read from a free answer.
        tokens_in: Prompt tokens of what was sent.
        tokens_out: Generated tokens.
    """

    ratings: int
    unique: int
    reused: int
    sent: int
    missing: int
    unparsable: int
    too_long: int
    unanswered: int
    unguided: int
    tokens_in: int
    tokens_out: int


def judge(
    *,
    judge_id: str,
    judge_entry: GeneratorEntry,
    judge_identity: str,
    rated: str,
    transforms: Sequence[Path],
    transformations: Mapping[str, TransformationEntry],
    prompt: JudgePromptEntry,
    rating: Rating,
    store_root: Path,
    out: Path,
    open_engine: Callable[[], Engine],
) -> JudgeStats:
    """Write a judge's ratings of a generator's rewrites (columns: `SCHEMA`), and return what that took.

    Equal requests are asked once, whoever wrote the rewrite; answers lie in the store under the
    judge's identity, so that a job that dies goes on where it was.

    Args:
        judge_id: Catalogue id of the judge.
        judge_entry: Its entry.
        judge_identity: Hash of what decides its answers.
        rated: Catalogue id of the generator.
        transforms: Its tables of rewrites, one per transformation.
        transformations: Catalogue entries by id, for what a rater is told.
        prompt: The judges' prompt.
        rating: `choice`: the number that is answered. `expected`: the mean of the scale under the
            choices' probabilities, where the engine gives them, else the number.
        store_root: Root of the store.
        out: Where the ratings go.
        open_engine: Opens the judge's engine; called only if something has to be asked.

    Raises:
        EngineError: The engine failed; finished batches are kept.
        StoppedError: The job was asked to end; finished batches are kept.
        StoreError: A table or a batch is damaged.
    """
    rows = pd.concat([_rows(path, transformations, prompt, judge_entry) for path in transforms])
    rows["key"] = [r.key(judge_identity) for r in rows["request"]]
    requests: dict[str, ChatRequest] = dict(zip(rows["key"], rows["request"], strict=True))
    engine = LazyEngine(open_engine)
    with between_batches() as stop, contextlib.closing(engine):
        answers, tally = ask_once(
            requests,
            store=CompletionStore(store_root / "completions" / judge_identity),
            engine=engine,
            stop=stop,
            batch_size=judge_entry.batch_size,
            length=_length,
            name=f"judge {judge_id} on {rated}",
        )
    read = {key: read_answer(answers[key], prompt.scale, rating) for key in requests}
    found = [read[key] for key in rows["key"]]
    _write(out, rows, found, judge_id, rated)
    stats = _counted(found, len(requests), tally)
    log.info("judge %s on %s: %s", judge_id, rated, stats)
    return stats


def _counted(found: Sequence[Read], unique: int, tally: Tally) -> JudgeStats:
    return JudgeStats(
        ratings=len(found), unique=unique, reused=tally.reused, sent=tally.sent,
        missing=sum(f.choice is None for f in found),
        unparsable=sum(f.reason == "unparsable" for f in found),
        too_long=sum(f.reason == "too_long" for f in found),
        unanswered=sum(f.reason in NO_ANSWER for f in found),
        unguided=sum(f.choice is not None and f.probabilities is None for f in found),
        tokens_in=tally.tokens_in, tokens_out=tally.tokens_out,
    )  # fmt: skip


def _rows(
    path: Path,
    transformations: Mapping[str, TransformationEntry],
    prompt: JudgePromptEntry,
    entry: GeneratorEntry,
) -> pd.DataFrame:
    """Return the rewrites of a table with the request that asks for each one's rating."""
    _, variant = variant_of_path(path)
    frame = read_parquet(path, columns=_READ).to_pandas()
    task = transformations[variant.transformation].task
    requests = [
        ask(prompt, task=task, row={str(k): v for k, v in row.items()}, guided=entry.guided)
        for row in frame.to_dict("records")
    ]
    kept: pd.DataFrame = frame[list(_COPIED)].assign(transformation=variant.transformation)
    kept["request"] = pd.Series(requests, index=kept.index, dtype=object)
    return kept


def ask(
    prompt: JudgePromptEntry,
    *,
    task: str,
    row: Mapping[str, Any],
    guided: Literal["auto", "structured_outputs", "json_schema", "none"] = "auto",
) -> ChatRequest:
    """Return the request for the rating of one rewrite.

    Every slot is filled in one pass, so that braces within a text, or the words of a slot, stay text.

    Args:
        prompt: The judges' prompt.
        task: What was to be done, in one sentence; may name the languages.
        row: `original`, `text` (the rewrite), `source_language`, `target_language`.
        guided: How an endpoint is told what may be answered.
    """
    languages = {
        "source_language": _language(row["source_language"]),
        "target_language": _language(row["target_language"]),
    }
    values = {
        **languages,
        "task": _SLOT.sub(lambda m: languages.get(m[1], m[0]), task),
        "original": str(row["original"]),
        "rewrite": str(row["text"]),
    }
    words = _SLOT.sub(lambda m: values[m[1]], prompt.template)
    choices = tuple(map(str, prompt.scale))
    return ChatRequest(((prompt.role, words),), prompt.max_tokens, choices=choices, guided=guided)


def _language(tag: str | None) -> str:
    return english_name(tag) if tag and is_known(tag) else _UNKNOWN


def _length(request: ChatRequest) -> int:
    return sum(len(content) for _, content in request.messages)


@dataclass(frozen=True)
class Read:
    """A rating as it was read: NaN and None where there is none, with the reason."""

    rating: float
    choice: int | None
    reason: str
    probabilities: tuple[float, ...] | None


def read_answer(answer: Completion, scale: Sequence[int], rating: Rating) -> Read:
    """Return the rating in a judge's answer; one that cannot be read is missing, never guessed.

    Args:
        answer: The completion.
        scale: The ratings that there are.
        rating: `choice` or `expected`.
    """
    nothing = float("nan")
    if answer.finish == "too_long" or answer.finish in NO_ANSWER:
        return Read(nothing, None, answer.finish, None)
    choice = parse(answer.text, scale)
    if choice is None:
        return Read(nothing, None, "unparsable", answer.probabilities)
    value = float(choice)
    if rating == "expected" and answer.probabilities is not None:
        value = sum(p * s for p, s in zip(answer.probabilities, scale, strict=True))
    return Read(value, choice, "", answer.probabilities)


_MARKS = r"[\s*_`\"'“”‘’()\[\].:#]*"
_ANSWER = re.compile(
    rf"\s*(?:[-•]\s+)?{_MARKS}(?:(?:(?:the|my|final|overall)\s+)*(?:rating|score|answer)(?:\s+is)?{_MARKS})?"
    rf"(?P<rating>\d+)(?:\s*(?:/|out\s+of)\s*(?P<top>\d+))?{_MARKS}",
    re.IGNORECASE,
)


def parse(answer: str, scale: Sequence[int]) -> int | None:
    """Return the rating that a free answer unmistakably gives, or None.

    Read are `4`, `4.`, `**4**`, `Rating: 4`, `4/5` and the like: a number of the scale and nothing
    more. Two numbers, words around it, or a number off the scale are no rating.

    Args:
        answer: What the judge wrote; think blocks and wrappers are taken off first.
        scale: The ratings that there are.
    """
    match = _ANSWER.fullmatch(clean(answer, "").text)
    if match is None or (match["top"] is not None and int(match["top"]) != scale[-1]):
        return None
    value = int(match["rating"])
    return value if value in scale else None


def _write(out: Path, rows: pd.DataFrame, found: Sequence[Read], judge_id: str, rated: str) -> None:
    columns: dict[str, Any] = {
        "judge": [judge_id] * len(rows),
        "generator": [rated] * len(rows),
        "transformation": rows["transformation"].tolist(),
        **{name: rows[name].tolist() for name in _COPIED},
        "rating": [f.rating for f in found],
        "choice": [f.choice for f in found],
        "reason": [f.reason for f in found],
        "probabilities": [None if f.probabilities is None else list(f.probabilities) for f in found],
        "key": rows["key"].tolist(),
    }
    made = {"stressbed.fingerprint": digest([VERSION, columns["key"]])}
    table = pa.table(columns, schema=SCHEMA.with_metadata(made))
    write_parquet(out, table)
