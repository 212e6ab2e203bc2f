"""From counts to hours, bytes and money: the stages, datasets and models of a forecast."""

from __future__ import annotations

from stressbed import paths
from stressbed.plan.build import Facts, cell_count, free_bytes
from stressbed.plan.forecast import Forecast, Jobs, ModelRow, Stage, by_place
from stressbed.plan.notes import notes_of, warnings_of
from stressbed.plan.records import rate_of
from stressbed.plan.requests import Asked
from stressbed.plan.rows import (
    CHARACTERS_PER_TOKEN,
    all_asked,
    dataset_row,
    elsewhere,
    embedder_row,
    generator_row,
    judge_rows,
    ratio,
    writers,
)

TABLE_JOBS = 11
"""Rules that make tables, figures, summary and page of a run."""


def totals(facts: Facts) -> Forecast:
    """Return the forecast that follows from what was counted."""
    generators = [generator_row(facts, g, facts.device) for g in writers(facts)]
    embedders = [embedder_row(facts, e, facts.device) for e in facts.plan.config.embedders]
    models = [*generators, *judge_rows(facts, facts.device), *embedders]
    stages = _stages(facts, models)
    free = free_bytes(facts.plan.results)
    missing = sum(s.bytes * (1 - s.share_done) for s in stages)
    return Forecast(
        run=facts.plan.config.run,
        device=facts.device.label,
        stages=stages,
        datasets=[dataset_row(facts, d) for d in facts.plan.config.datasets],
        models=models,
        other_devices=elsewhere(facts),
        free_bytes=free,
        notes=notes_of(facts),
        warnings=warnings_of(facts, models, missing=missing, free=free),
    )


def _stages(facts: Facts, models: list[ModelRow]) -> list[Stage]:
    found = [_preparation(facts)]
    if facts.translated:
        found.append(_requests(facts, "translate", list(facts.translated.values()), models, "translate"))
    if facts.screened:
        found.append(_requests(facts, "screen", list(facts.screened.values()), models, "screen"))
        found.append(_judging(facts, models))
    if facts.asked:
        found += [
            _requests(facts, "generate", list(facts.asked.values()), models, "generate"),
            _transform(facts),
            _embed(facts, models),
            _score(facts),
            _tables(facts),
        ]
    return found


def _jobs(facts: Facts, *stages: str) -> tuple[int, int]:
    jobs = [facts.jobs.get(s) or Jobs() for s in stages]
    return sum(len(j.every) for j in jobs), sum(len(j.left) for j in jobs)


def _preparation(facts: Facts) -> Stage:
    every, left = _jobs(facts, "dataset", "texts")
    cpu, size = facts.assumed.cpu, facts.assumed.bytes
    seconds = {d: 2 * cpu.start + s.occurrences * cpu.freeze_text for d, s in facts.samples.items()}
    there = {d for d, s in facts.samples.items() if s.folder is not None}
    return Stage(
        name="datasets",
        unit="texts",
        jobs=every,
        jobs_left=left,
        units=sum(s.occurrences for s in facts.samples.values()),
        done=sum(facts.samples[d].occurrences for d in there),
        exact=all(s.how != "estimated" for s in facts.samples.values()),
        seconds={"cpu": sum(seconds.values())},
        seconds_left={"cpu": sum(s for d, s in seconds.items() if d not in there)},
        bytes=sum(s.characters * size.text_characters for s in facts.samples.values()),
    )


def _requests(facts: Facts, name: str, asked: list[Asked], models: list[ModelRow], jobs: str) -> Stage:
    """Return a stage that asks generators, with the share of their time that its tokens have."""
    every, left = _jobs(facts, jobs)
    seconds: dict[str, float] = {}
    seconds_left: dict[str, float] = {}
    mine = _by_generator(facts, name)
    for row in models:
        if row.role == "generator" and row.model in mine:
            of_all = all_asked(facts, row.model)
            share = ratio(sum(a.tokens_out for a in mine[row.model]), sum(a.tokens_out for a in of_all))
            share_left = ratio(sum(a.left_out for a in mine[row.model]), sum(a.left_out for a in of_all))
            seconds = by_place(seconds, {row.place: row.seconds * share})
            seconds_left = by_place(seconds_left, {row.place: row.seconds_left * share_left})
    size = facts.assumed.bytes
    written = sum(a.tokens_out for a in asked) * CHARACTERS_PER_TOKEN
    again = sum(a.naive * ratio(a.tokens_out, a.to_send) for a in asked) * CHARACTERS_PER_TOKEN * size.packed
    kept = sum(a.to_send for a in asked) * size.request + written
    return Stage(
        name=name,
        unit="requests",
        jobs=every,
        jobs_left=left,
        units=sum(a.to_send for a in asked),
        done=sum(a.done for a in asked),
        exact=all(a.exact for a in asked),
        tokens_in=sum(a.tokens_in for a in asked),
        tokens_out=sum(a.tokens_out for a in asked),
        tokens_exact=all(a.left_out == 0 for a in asked),
        seconds=seconds,
        seconds_left=seconds_left,
        measured=all(r.measured for r in models if r.role == "generator" and r.model in mine),
        bytes=kept + again + sum(a.naive for a in asked) * size.completion_row,
    )


def _by_generator(facts: Facts, stage: str) -> dict[str, list[Asked]]:
    if stage == "screen":
        return {g: [a] for g, a in facts.screened.items()}
    found: dict[str, list[Asked]] = {}
    for (_, g), a in (facts.translated if stage == "translate" else facts.asked).items():
        found.setdefault(g, []).append(a)
    return found


def _judging(facts: Facts, models: list[ModelRow]) -> Stage:
    row = next(r for r in models if r.role == "judge")
    chosen = facts.plan.selection
    assert chosen is not None
    shortlist = min(chosen.shortlist, len(chosen.candidates))
    jobs = shortlist * (shortlist + len(chosen.judges))
    return Stage(
        name="judge", unit="requests", jobs=jobs,
        jobs_left=round(jobs * (1 - ratio(row.done, row.units))),
        units=row.units, done=row.done, exact=False,
        seconds={row.place: row.seconds}, seconds_left={row.place: row.seconds_left}, bytes=row.bytes,
    )  # fmt: skip


def _transform(facts: Facts) -> Stage:
    every, left = _jobs(facts, "transform")
    a, size = facts.assumed.cpu, facts.assumed.bytes
    variants = len(facts.plan.rewrites)
    texts = {d: facts.samples[d].occurrences for d in facts.plan.config.datasets}
    there = {
        d: sum(
            (facts.plan.results / paths.TRANSFORM.format(dataset=d, variant=str(v))).is_file()
            for v in facts.plan.rewrites
        )
        for d in texts
    }
    rows = sum(texts.values()) * variants
    done = sum(n * there[d] for d, n in texts.items())
    per_variant = rate_of(facts.job("transform").every, "job", "variants")
    share = 1 - ratio(done, rows)
    if per_variant is not None:
        total = per_variant * len(texts) * variants
        remaining = per_variant * sum(variants - n for n in there.values())
    else:
        answers = sum(x.to_send for x in facts.asked.values())
        work = rows * a.transform_row + answers * a.transform_answer
        total, remaining = every * a.start + work, left * a.start + work * share
    old = sum(s.characters * ratio(s.occurrences, s.unique) for s in map(facts.samples.__getitem__, texts))
    new = sum(x.tokens_out * ratio(x.naive, x.to_send) for x in facts.asked.values()) * CHARACTERS_PER_TOKEN
    return Stage(
        name="transform", unit="rewrites", jobs=every, jobs_left=left, units=rows, done=done,
        exact=all(facts.samples[d].how != "estimated" for d in texts),
        seconds={"cpu": total}, seconds_left={"cpu": remaining}, measured=per_variant is not None,
        bytes=rows * size.transform_row + (old * variants + new) * size.packed,
    )  # fmt: skip


def _embed(facts: Facts, models: list[ModelRow]) -> Stage:
    every, left = _jobs(facts, "embed")
    rows = [r for r in models if r.role == "embedder"]
    seconds: dict[str, float] = {}
    remaining: dict[str, float] = {}
    for row in rows:
        seconds = by_place(seconds, {row.place: row.seconds})
        remaining = by_place(remaining, {row.place: row.seconds_left})
    return Stage(
        name="embed", unit="strings", jobs=every, jobs_left=left,
        units=sum(r.units for r in rows), done=sum(r.done for r in rows), exact=all(r.exact for r in rows),
        tokens_in=sum(x.tokens for x in facts.encodings.values()),
        seconds=seconds, seconds_left=remaining, measured=all(r.measured for r in rows),
        bytes=sum(r.bytes for r in rows),
    )  # fmt: skip


def _score(facts: Facts) -> Stage:
    every, left = _jobs(facts, "score")
    a, size = facts.assumed.cpu, facts.assumed.bytes
    cells, variants = cell_count(facts), len(facts.plan.variants)
    strings = sum(
        facts.strings[d].naive for _, d in facts.plan.pairs
    )  # of all variants of a pair, so of all its cells
    measured = rate_of(facts.job("score").every, "score_seconds", "computed")
    work = measured * cells if measured is not None else a.cell * cells + a.cell_string * strings
    share = 1 - ratio(facts.cells_done, cells)
    texts = sum(facts.samples[d].occurrences for _, d in facts.plan.pairs) * variants
    return Stage(
        name="score", unit="cells", jobs=every, jobs_left=left, units=cells,
        done=facts.cells_done, exact=True,
        seconds={"cpu": work + every * a.start}, seconds_left={"cpu": work * share + left * a.start},
        measured=measured is not None, bytes=cells * size.cell + texts * size.cell_item,
    )  # fmt: skip


def _tables(facts: Facts) -> Stage:
    cells = cell_count(facts)
    done = facts.cells_done == cells and (facts.plan.run_folder / "summary.json").is_file()
    cpu = facts.assumed.cpu
    seconds = cpu.tables_start + cpu.tables_cell * cells
    return Stage(
        name="tables", unit="cells", jobs=TABLE_JOBS, jobs_left=0 if done else TABLE_JOBS, units=cells,
        done=cells if done else 0, exact=True, seconds={"cpu": seconds},
        seconds_left={"cpu": 0.0 if done else seconds}, bytes=cells * facts.assumed.bytes.cell,
    )  # fmt: skip
