"""The transform stage: from a variant's answers to its table of new texts, with flags and outcomes."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from stressbed.config.catalogue import identity
from stressbed.config.entries import GeneratorEntry, PromptEntry, TransformationEntry
from stressbed.errors import DataError
from stressbed.fingerprint import digest, text_digest
from stressbed.generate.assign import touched
from stressbed.generate.marks import Marks
from stressbed.generate.prompts import instruction
from stressbed.paths import Variant
from stressbed.rewrites import ABSENT, CONTENT_HASH, DRAWN, DROPPED
from stressbed.store import metadata_of, read_parquet, write_parquet
from stressbed.transform import VERSION
from stressbed.transform.flags import FLAGS, NOT_JUDGED, Flags, Thresholds, flag
from stressbed.transform.markers import Markers
from stressbed.transform.outcome import Result, resolve
from stressbed.transform.signs import SIGNS, answered, echo, refused, repeated

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger("stressbed")

SCHEMA = pa.schema(
    [
        ("text_id", pa.int64()),
        ("subset", pa.string()),
        ("split", pa.string()),
        ("field", pa.string()),
        ("row", pa.string()),
        ("position", pa.int64()),
        ("side", pa.string()),
        ("source_language", pa.string()),
        ("target_language", pa.string()),
        ("original", pa.string()),
        ("text", pa.string()),
        *[(name, pa.bool_()) for name in (*FLAGS, *SIGNS)],
        ("outcome", pa.string()),
        ("reason", pa.string()),
        ("attempts", pa.int64()),
        ("cleaned", pa.string()),
        ("tokens_in", pa.int64()),
        ("tokens_out", pa.int64()),
    ]
)
"""Columns of a transforms file."""

_OUTPUT = "output"
"""Key of what the generator made of a text; where a rule applied it is not the new text."""

_COPIED = ("subset", "split", "field", "row", "position", "side")


def transform(
    *,
    completions: Path,
    texts: pd.DataFrame,
    manifest: Mapping[str, Any],
    variant: Variant,
    entry: TransformationEntry,
    generator: GeneratorEntry,
    markers: Markers,
    out: Path,
    prompts: Mapping[str, PromptEntry] = MappingProxyType({}),
) -> None:
    """Write the table of a variant's new texts (schema in docs/architecture.md).

    Args:
        completions: The variant's completions file.
        texts: The dataset's texts.
        manifest: The frozen dataset's manifest.
        variant: The variant.
        entry: Its transformation.
        generator: Its generator.
        markers: What reasoning, labels and refusals look like, in all languages of the catalogue.
        out: Where the table goes.
        prompts: The transformation's prompts; an output that repeats one is an echo.

    Raises:
        DataError: The completions do not cover the texts: one of the files is stale.
        StoreError: The completions file is damaged.
    """
    table = read_parquet(completions)
    metadata = metadata_of(table.schema)
    absent: dict[str, str] = json.loads(metadata[ABSENT])
    answers = _by_text(table)
    columns: dict[str, list[Any]] = {name: [] for name in SCHEMA.names}
    outputs: list[str] = []
    judge = _Judge(entry, markers, Marks.of(generator), prompts)
    chosen = touched(texts, entry.fields)
    for text in chosen[~chosen["subset"].isin(list(absent))].to_dict("records"):
        if text["text_id"] not in answers:
            raise DataError(
                f"no answer for text {text['text_id']}",
                where=str(completions),
                do="delete this file and run again",
            )
        row = judge.row({str(k): v for k, v in text.items()}, answers[text["text_id"]])
        for name, values in columns.items():
            values.append(row[name])
        outputs.append(row[_OUTPUT])
    _mark_repeated(columns, outputs)
    dropped = [outcome == DROPPED for outcome in columns["outcome"]]
    content = zip(columns["text_id"], columns["text"], dropped, strict=True)
    content_hash = text_digest(*(part for i, text, d in content for part in (str(i), text, str(d))))
    found = {
        CONTENT_HASH: content_hash,
        DRAWN: _drawn(columns["text_id"], answers),
        ABSENT: json.dumps(absent, sort_keys=True),
        "stressbed.fingerprint": digest(
            [VERSION, metadata["stressbed.fingerprint"], content_hash, identity("transformation", entry)]
        ),
    }
    written = pa.table(columns, schema=SCHEMA.with_metadata(found))
    write_parquet(out, written)
    counts = _summary(columns["outcome"])
    log.info("%s %s (%s): %d texts, %s", manifest["dataset"], variant, generator.model, len(dropped), counts)


def _drawn(ids: list[int], answers: Mapping[int, list[dict[str, Any]]]) -> str:
    """Return the hash of the languages that the texts were asked for in; every step of a text has its own."""
    asked = (
        (str(i), str(a["step"]), a["language"] or "") for i in ids for a in answers[i] if not a["attempt"]
    )
    return text_digest(*(part for call in asked for part in call))


def _by_text(table: pa.Table) -> dict[int, list[dict[str, Any]]]:
    """Return a text's completions by its id, in order of step and attempt."""
    found: dict[int, list[dict[str, Any]]] = {}
    for row in table.sort_by(
        [("text_id", "ascending"), ("step", "ascending"), ("attempt", "ascending")]
    ).to_pylist():
        found.setdefault(row["text_id"], []).append(row)
    return found


def _mark_repeated(columns: Mapping[str, list[Any]], outputs: Sequence[str]) -> None:
    """Set the sign that only the whole variant shows, and the outcome that it asks for."""
    for i, same in enumerate(repeated(columns["original"], outputs)):
        columns["repeated"][i] = same
        if same and columns["outcome"][i] in {"ok", "retried"}:
            columns["outcome"][i] = "flagged"


@dataclass(frozen=True)
class _Judge:
    """Makes the rows of a variant's table.

    Attributes:
        entry: The transformation.
        markers: What reasoning, labels and refusals look like.
        marks: The generator's marks of thinking and of answers.
        prompts: The transformation's prompts.
    """

    entry: TransformationEntry
    markers: Markers
    marks: Marks
    prompts: Mapping[str, PromptEntry]

    def row(self, text: Mapping[str, Any], answers: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the values of one row of the table, and the output under a key of its own."""
        steps = [[a for a in answers if a["step"] == n + 1] for n in range(answers[-1]["step"])]
        result = resolve(
            [[(a["text"], a["finish"]) for a in s] for s in steps],
            text["text"],
            self.entry,
            self.marks,
            lambda original, output: refused(original, output, self.markers),
        )
        back = self.entry.steps[-1].language == "source"
        target = text["language"] if back else answers[-1]["language"]
        flags, signs = NOT_JUDGED, dict.fromkeys(SIGNS, False)
        if result.reason != "too_long":  # nothing was asked, so there is no answer to find fault with
            flags = self._flags(text["text"], result.output, target)
            signs |= self._signs(text, result, answers[-1], target)
        return {
            **{name: text[name] for name in ("text_id", *_COPIED)},
            **asdict(flags),
            **signs,
            "source_language": text["language"],
            "target_language": target,
            "original": text["text"],
            "text": result.text,
            "outcome": result.outcome(flagged=flags.any or any(signs.values())),
            "reason": result.reason,
            "attempts": result.attempts,
            "cleaned": ",".join(result.cleaned),
            "tokens_in": sum(a["tokens_in"] for a in answers),
            "tokens_out": sum(a["tokens_out"] for a in answers),
            _OUTPUT: result.output,
        }

    def _flags(self, original: str, output: str, target: str) -> Flags:
        return flag(
            original,
            output,
            kind=self.entry.kind,
            language=target,
            markers=self.markers,
            thresholds=Thresholds(**self.entry.flag_thresholds.model_dump()),
        )

    def _signs(
        self, text: Mapping[str, Any], result: Result, last: Mapping[str, Any], target: str
    ) -> dict[str, bool]:
        prompt = self.prompts.get(last["prompt_id"])
        told = "" if prompt is None else instruction(prompt, last["language"])
        refuses = result.reason == "refused"
        return {
            "echo": echo(text["text"], result.output, told),
            "answered": not refuses and answered(text["text"], result.output, text["language"], target),
        }


def _summary(outcomes: list[str]) -> str:
    return ", ".join(f"{outcomes.count(o)} {o}" for o in sorted(set(outcomes))) or "none touched"
