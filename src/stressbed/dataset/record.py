"""Which texts will be embedded, and how mteb makes strings of them: found by a dry run.

What mteb embeds depends on labels and seeds (a sample of the training texts, say), and it joins
texts (title and body, query and instruction). So every text is replaced by a marker, the task is
evaluated with an encoder that only writes down what it is given, and the markers in those strings
say which texts they are made of. A second dry run with the real texts checks the result.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.dataset import rowlanguages
from stressbed.errors import DataError
from stressbed.store import write_parquet

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from stressbed.dataset.rowlanguages import Spoken

log = logging.getLogger("stressbed")

OPEN, CLOSE = "\ue000", "\ue001"
"""Private-use characters around a marker's number; a blank outside of each shows whether mteb strips."""

_MARKER = re.compile(f" ?{OPEN}(\\d+){CLOSE} ?")

Key = tuple[str, str]
"""(role, string): what decides a vector under a given embedder."""


@dataclass(frozen=True)
class Template:
    """A string handed to an embedder: literals around texts.

    Attributes:
        role: `query`, `document` or `none`.
        literals: n+1 pieces around n texts.
        text_ids: The n texts.
        strip: Whether mteb strips the joined string.
    """

    role: str
    literals: tuple[str, ...]
    text_ids: tuple[int, ...]
    strip: bool

    def fill(self, text_of: Mapping[int, str]) -> str:
        """Return the string with texts put in."""
        parts = [self.literals[0]]
        for text_id, literal in zip(self.text_ids, self.literals[1:], strict=True):
            parts += (text_of[text_id], literal)
        joined = "".join(parts)
        return joined.strip() if self.strip else joined


def record(folder: str | Path) -> None:
    """Write `texts.parquet` and `inputs.parquet` of a frozen dataset (schemas: docs/architecture.md).

    Raises:
        DataError: The templates do not reproduce what mteb hands over for the real texts.
    """
    from stressbed.dataset.layout import slots
    from stressbed.dataset.thaw import read_manifest, thaw

    folder = Path(folder)
    manifest = read_manifest(folder)
    occurrences = list(_occurrences(thaw(folder), manifest, rowlanguages.read(folder, manifest)))
    task = thaw(folder)
    counter = iter(range(len(occurrences)))
    for slot in slots(task):
        slot.substitute(lambda _row, _position, _text: f" {OPEN}{next(counter)}{CLOSE} ")
    templates = [parse(role, string) for role, string in dry_run(task)]
    used = sorted({i for t in templates for i in t.text_ids})
    number = {old: new for new, old in enumerate(used)}
    templates = list(
        dict.fromkeys(
            Template(t.role, t.literals, tuple(number[i] for i in t.text_ids), t.strip) for t in templates
        )
    )
    texts = _texts_table([occurrences[i] for i in used])
    _verify(folder, templates, texts)
    write_parquet(folder / "inputs.parquet", _inputs_table(templates))
    write_parquet(folder / "texts.parquet", texts)
    log.info("%s: %d texts, %d strings", manifest["dataset"], len(used), len(templates))


def strings_of(
    texts: pd.DataFrame | pa.Table, inputs: pd.DataFrame | pa.Table, replacements: Mapping[int, str]
) -> list[Key]:
    """Return the unique (role, string) that mteb hands to an embedder, in order of first use.

    Args:
        texts: Content of `texts.parquet` (its columns `text_id` and `text` are used).
        inputs: Content of `inputs.parquet`.
        replacements: New text by text id; texts that are not named stay as they are.

    Raises:
        KeyError: A replacement names a text that is not in `texts`.
    """
    text_of = dict(zip(_column(texts, "text_id"), _column(texts, "text"), strict=True))
    unknown = set(replacements) - set(text_of)
    if unknown:
        raise KeyError(f"unknown text ids: {sorted(unknown)[:5]}")
    text_of.update(replacements)
    return list(dict.fromkeys((t.role, t.fill(text_of)) for t in templates_of(inputs)))


def templates_of(inputs: pd.DataFrame | pa.Table) -> Iterator[Template]:
    """Yield the templates of `inputs.parquet`."""
    columns = [_column(inputs, c) for c in ("role", "literals", "text_ids", "strip")]
    for role, literals, ids, strip in zip(*columns, strict=True):
        yield Template(role, tuple(literals), tuple(int(i) for i in ids), bool(strip))


def _column(table: pd.DataFrame | pa.Table, name: str) -> list[Any]:
    column = table[name]
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column.tolist())


def parse(role: str, string: str) -> Template:
    """Return the template of a string that was made of markers."""
    literals, ids, end, stripped = [], [], 0, False
    for match in _MARKER.finditer(string):
        stripped |= not match[0].startswith(" ") or not match[0].endswith(" ")
        literals.append(string[end : match.start()])
        ids.append(int(match[1]))
        end = match.end()
    literals.append(string[end:])
    return Template(role, tuple(literals), tuple(ids), stripped)


def dry_run(task: Any) -> list[Key]:
    """Return the unique (role, string) that mteb would embed, in order of first use.

    All subsets of a split are evaluated before the next split, as mteb does, since some tasks
    share one random generator among them. What comes after encoding is made as cheap as possible
    without touching those generators.
    """
    from stressbed.dataset.recorder import Recorder, cheapen

    recorder = Recorder()
    cheapen(task)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for split in task.eval_splits:
            task.evaluate(recorder, split, encode_kwargs={"batch_size": 1024, "show_progress_bar": False})
    return list(recorder.seen)


def _occurrences(
    task: Any, manifest: dict[str, Any], spoken: Mapping[tuple[str, str], Spoken]
) -> Iterator[tuple[Any, ...]]:
    from stressbed.dataset.layout import language_of, slots

    for slot in slots(task):
        # Where all rows name their language, the subset's may leave it open.
        of_slot = None if rowlanguages.covers(slot, spoken) else language_of(manifest, slot)
        for row, position, text in slot.texts():
            language = rowlanguages.spoken_in(slot, row, spoken) or of_slot
            yield slot.subset, slot.split, slot.field, row, position, slot.side, language, text


def _texts_table(rows: list[tuple[Any, ...]]) -> pa.Table:
    import pyarrow as pa

    names = ("subset", "split", "field", "row", "position", "side", "language", "text")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(names, ())
    schema = pa.schema(
        [("text_id", pa.int64())]
        + [(n, pa.int64() if n == "position" else pa.string()) for n in names]
    )  # fmt: skip
    data = {"text_id": range(len(rows)), **{n: list(c) for n, c in columns.items()}}
    return pa.table({n: pa.array(v, schema.field(n).type) for n, v in data.items()}, schema=schema)


def _inputs_table(templates: list[Template]) -> pa.Table:
    import pyarrow as pa

    schema = pa.schema(
        [
            ("role", pa.string()),
            ("literals", pa.list_(pa.string())),
            ("text_ids", pa.list_(pa.int64())),
            ("strip", pa.bool_()),
        ]
    )
    rows = [
        {"role": t.role, "literals": list(t.literals), "text_ids": list(t.text_ids), "strip": t.strip}
        for t in templates
    ]
    return pa.Table.from_pylist(rows, schema=schema)


def _verify(folder: Path, templates: list[Template], texts: pa.Table) -> None:
    """Compare the templates, filled with the real texts, with what mteb hands over for them."""
    from stressbed.dataset.thaw import thaw

    text_of = dict(enumerate(texts["text"].to_pylist()))
    ours = {(t.role, t.fill(text_of)) for t in templates}
    theirs = set(dry_run(thaw(folder)))
    if ours != theirs:
        odd = next(iter(ours ^ theirs))
        raise DataError(
            f"{len(ours ^ theirs)} strings that mteb embeds are not the joins that the dry run found",
            where=f"{folder}, for example role {odd[0]}: {odd[1]!r:.120}",
            do="please report it: this task joins its texts in a way that stressbed does not know",
        )
