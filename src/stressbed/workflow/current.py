"""Whether a job's outputs are current, and if not, why, in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from stressbed import contents
from stressbed.workflow.lines import Deciding, Lines
from stressbed.workflow.made import Made, Record, grouped, joined
from stressbed.workflow.places import Inputs, place_of

UNKNOWN = "no record says"
"""How the reason begins for files of which nothing is known."""

STATISTICS = "jobs/"
"""Where jobs' statistics lie: they say when and how long, which decides nothing."""


class Current:
    """The comparison of a run's files with the records of how they were made.

    Args:
        made: The records.
    """

    def __init__(self, made: Made) -> None:
        self.made = made
        self._root = made.results.absolute()

    def why(self, outputs: Iterable[str], decides: Sequence[str], inputs: Iterable[str]) -> list[str]:
        """Return why a job's outputs are not current, in words; nothing if they are (see `why_each`)."""
        found = self.why_each(outputs, decides, inputs).values()
        return list(dict.fromkeys(reason for reasons in found for reason in reasons))

    def why_each(
        self,
        outputs: Iterable[str],
        decides: Sequence[str],
        inputs: Iterable[str],
        passed_over: Callable[[str], bool] = lambda _: False,
    ) -> dict[str, list[str]]:
        """Return the outputs that are not current, and why.

        Outputs that are not there are passed over: whether they are wanted is Snakemake's matter.

        Args:
            outputs: Outputs of a job.
            decides: What decides them beside the inputs (`lines.as_text`).
            inputs: The job's inputs.
            passed_over: Whether the line of a key does not matter.
        """
        now, given = Deciding.of(decides), None
        found: dict[str, list[str]] = {}
        for output in outputs:
            name = self.name(output)
            content = None if name.startswith(STATISTICS) else contents.content_of(output)
            if content is None:
                continue
            given = Inputs(self.contents_of(inputs)) if given is None else given
            reasons = self._why(name, content, now, given, passed_over)
            if reasons:
                found[output] = reasons
        return found

    def record(
        self, rule: str, outputs: Iterable[str], decides: Sequence[str], inputs: Mapping[str, str],
        stats: Mapping[str, object],
    ) -> Record:  # fmt: skip
        """Return the record of a job that has just made its outputs.

        Args:
            rule: Its rule.
            outputs: Its outputs.
            decides: What decided them beside the inputs.
            inputs: What `contents_of` gave for its inputs when it began.
            stats: Its statistics.
        """
        names = {self.name(o): contents.content_of(o) for o in outputs}
        made = {n: c for n, c in names.items() if c is not None and not n.startswith(STATISTICS)}
        held = dict(inputs) if any(map(place_of, made)) else grouped(inputs)
        return Record(rule, made, Inputs(held), Deciding.of(decides), self.made.run, stats)

    def contents_of(self, inputs: Iterable[str]) -> dict[str, str]:
        """Return the content of each input that is there, by `name`; statistics are left out."""
        found: dict[str, str] = {}
        for path in inputs:
            name = self.name(path)
            content = None if name.startswith(STATISTICS) else contents.content_of(path)
            if content is not None:
                while name in found:
                    name += "'"
                found[name] = content
        return found

    def name(self, path: str) -> str:
        """Return a file's path below the results, or its last part if it lies elsewhere.

        Wherever results and data are moved to, names stay.
        """
        prefix = f"{self.made.results}/"
        if path.startswith(prefix):
            return path.removeprefix(prefix)
        place = Path(path).absolute()
        return place.relative_to(self._root).as_posix() if place.is_relative_to(self._root) else place.name

    def _why(
        self, name: str, content: str, now: Deciding, given: Inputs,
        passed_over: Callable[[str], bool],
    ) -> list[str]:  # fmt: skip
        records = self.made.of(name)
        if not records:
            return [f"{UNKNOWN} how {_folder(name)} was made"]
        fitting = [r for r in records if r.outputs[name] == content]
        if not fitting:
            return [f"{name} has other contents than were made"]
        reasons: list[str] = []
        for record in fitting:
            differ = _differences(record, name, now, given, passed_over)
            if not differ:
                return []
            reasons = reasons or differ
        return reasons


def _differences(
    record: Record, name: str, now: Deciding, given: Inputs, passed_over: Callable[[str], bool]
) -> list[str]:
    """Return what differs between how an output was made and how it would be made now, in words."""
    place = place_of(name)
    old, new = record.decides.concerning(place), now.concerning(place)
    found = [] if old == new else changes(old, new, passed_over)
    was, is_now = record.inputs.concerning(place), given.concerning(place)
    if not place and len(is_now) > len(was):
        is_now = grouped(is_now)
    return found if was == is_now else [*found, *_changed_inputs(was, is_now)]


def _folder(name: str) -> str:
    return f"{name.partition('/')[0]}/" if "/" in name else name


def changes(old: Lines, new: Lines, passed_over: Callable[[str], bool] = lambda _: False) -> list[str]:
    """Return the lines that differ, in words: the key, what it was, what it is.

    Args:
        old: Lines by key, before.
        new: Now.
        passed_over: Whether the line of a key does not matter.
    """
    found = []
    for key in dict.fromkeys([*new, *old]):
        if passed_over(key):
            continue
        if key not in old:
            found.append(f"{key}: new, {_short(new[key])}")
        elif key not in new:
            found.append(f"{key}: gone, was {_short(old[key])}")
        elif old[key] != new[key]:
            before, after = _apart(old[key], new[key])
            found.append(f"{key}: {before} -> {after}")
    return [_of_file(words) for words in found]


def _of_file(words: str) -> str:
    """Return words in which a file's hash is not shown: it tells a reader nothing."""
    key, _, rest = words.partition(": files.")
    if not rest or not key.startswith(("embedder ", "generator ")):
        return words
    file, _, how = rest.rpartition(": ")
    said = (
        "is new" if how.startswith("new,") else "is gone" if how.startswith("gone,") else "has other contents"
    )
    return f"{key}: its file {file} {said}"


def _changed_inputs(was: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    other = [n for n in now if n in was and now[n] != was[n]]
    new, gone = [n for n in now if n not in was], [n for n in was if n not in now]
    found = []
    for names, said in ((other, "other contents in"), (new, "new:"), (gone, "no longer there:")):
        if names:
            found.append(f"{said} {joined(sorted(names), 3)}")
    return found


def _short(value: str, most: int = 60) -> str:
    try:
        plain = json.loads(value)
    except ValueError:
        plain = value
    text = plain if isinstance(plain, str) and plain else value
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _apart(old: str, new: str, most: int = 60) -> tuple[str, str]:
    """Return two values, of long ones the part where they begin to differ."""
    if max(len(old), len(new)) <= most:
        return _short(old), _short(new)
    same = next(
        (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
    )
    start = max(0, same - 20)
    lead = "..." if start else ""
    return f"{lead}{_short(old[start:])}", f"{lead}{_short(new[start:])}"
