"""What each model and each dataset of a run takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from stressbed.plan.assumptions import Device
from stressbed.plan.build import Facts
from stressbed.plan.forecast import DatasetRow, ModelRow
from stressbed.plan.models import Model, encoding, weights, writing
from stressbed.plan.requests import Asked

CHARACTERS_PER_TOKEN = 3.7
"""Of answers, all languages together."""

JUDGE_ANSWER = 1
"""Tokens of a rating."""


def writers(facts: Facts) -> list[str]:
    """Return the generators that are asked for anything, in the order of the plan."""
    asked = {g for _, g in [*facts.asked, *facts.translated]} | set(facts.screened)
    order = [*facts.plan.config.generator, *facts.plan.generators]
    return [g for g in dict.fromkeys(order) if g in asked]


def all_asked(facts: Facts, generator: str) -> list[Asked]:
    """Return everything that a generator is asked in a run, by dataset and stage."""
    found = [a for (_, g), a in [*facts.asked.items(), *facts.translated.items()] if g == generator]
    return [*found, *([facts.screened[generator]] if generator in facts.screened else [])]


def generator_row(facts: Facts, generator: str, device: Device) -> ModelRow:
    """Return what a generator takes on a device."""
    entry = facts.plan.catalogue.generators[generator]
    model = facts.models[f"generator:{generator}"]
    asked = all_asked(facts, generator)
    pending = [a for a in asked if a.left_out]
    size = facts.assumed.bytes.request
    return ModelRow(
        model=generator,
        role="generator",
        parameters=model.parameters,
        parameters_told=model.told,
        units=sum(a.to_send for a in asked),
        done=sum(a.done for a in asked),
        exact=all(a.exact for a in asked),
        place=model.place,
        seconds=_writing_seconds(facts, model, asked, entry.concurrency, device, left=False),
        seconds_left=_writing_seconds(facts, model, pending, entry.concurrency, device, left=True),
        measured=generator in facts.records.writing,
        bytes=sum(a.to_send * size + a.tokens_out * CHARACTERS_PER_TOKEN for a in asked),
        weights=weights(model, facts.assumed),
        price=_price(entry.price_in, entry.price_out, asked, left=False),
        price_left=_price(entry.price_in, entry.price_out, asked, left=True),
    )


def _writing_seconds(
    facts: Facts, model: Model, asked: list[Asked], concurrency: int, device: Device, *, left: bool
) -> float:
    jobs = len(asked) if "dataset" in facts.plan.config.generate_job_axes else min(1, len(asked))
    return writing(
        model,
        text_tokens=sum(a.left_text if left else a.text_tokens for a in asked),
        all_tokens=sum(a.left_in if left else a.tokens_in for a in asked),
        tokens_out=sum(a.left_out if left else a.tokens_out for a in asked),
        jobs=jobs,
        concurrency=concurrency,
        device=device,
        records=facts.records,
        assumed=facts.assumed,
    ).seconds


def _price(
    price_in: float | None, price_out: float | None, asked: Iterable[Asked], *, left: bool
) -> float | None:
    if price_in is None and price_out is None:
        return None
    listed = list(asked)
    read = sum(a.left_in if left else a.tokens_in for a in listed)
    written = sum(a.left_out if left else a.tokens_out for a in listed)
    return (read * (price_in or 0.0) + written * (price_out or 0.0)) / 1e6


def judge_rows(facts: Facts, device: Device) -> list[ModelRow]:
    """Return what the judges of a selection take: who they are shows only after the screening."""
    chosen = facts.plan.selection
    if chosen is None:
        return []
    each = [facts.screened[c] for c in chosen.candidates]
    shortlist = min(chosen.shortlist, len(chosen.candidates))
    judges = shortlist + len(chosen.judges)
    ratings = facts.screened_texts * len(chosen.transformations) * shortlist
    mean_tokens = sum(a.text_tokens for a in each) / max(1.0, sum(a.to_send for a in each))
    read = ratings * (facts.assumed.judge_prompt_tokens + 2 * mean_tokens)
    models = [facts.models[f"generator:{c}"] for c in chosen.candidates]
    sizes = [m.parameters for m in models if m.parameters]
    mean = replace(models[0], id="judges", parameters=sum(sizes) / len(sizes) if sizes else None)
    seconds = writing(
        mean, text_tokens=read, all_tokens=read, tokens_out=ratings * JUDGE_ANSWER, jobs=1, concurrency=8,
        device=device, records=facts.records, assumed=facts.assumed,
    ).seconds  # fmt: skip
    done = sum(
        1 for _ in (facts.plan.selection_folder / "ratings").glob("*/*.parquet")
    ) / max(1, judges * shortlist)  # fmt: skip
    left = 1 - min(1.0, done)
    return [
        ModelRow(
            model=f"{judges} judges",
            role="judge",
            parameters=mean.parameters,
            parameters_told=False,
            units=ratings * judges,
            done=ratings * judges * (1 - left),
            exact=False,
            place=mean.place,
            seconds=seconds * judges,
            seconds_left=seconds * judges * left,
            measured=False,
            bytes=ratings * judges * facts.assumed.bytes.request,
            weights=0.0,
        )
    ]


def embedder_row(facts: Facts, embedder: str, device: Device) -> ModelRow:
    """Return what an embedder takes on a device."""
    model = facts.models[f"embedder:{embedder}"]
    mine = [x for (e, _), x in facts.encodings.items() if e == embedder]
    by_dataset = "dataset" in facts.plan.config.job_axes
    pending = [x for x in mine if x.done < x.to_encode]

    def seconds(strings: float, tokens: float, jobs: int) -> float:
        """Return the seconds for so many strings with so many tokens."""
        return encoding(
            model, strings=strings, tokens=tokens, jobs=jobs if by_dataset else min(1, jobs),
            device=device, records=facts.records, assumed=facts.assumed,
        ).seconds  # fmt: skip

    strings, done = sum(x.to_encode for x in mine), sum(x.done for x in mine)
    left = sum(x.tokens * (1 - x.done / x.to_encode) for x in pending)
    size = model.dimension * 4 + facts.assumed.bytes.vector_key
    return ModelRow(
        model=embedder,
        role="embedder",
        parameters=model.parameters,
        parameters_told=model.told,
        units=strings,
        done=done,
        exact=all(x.exact for x in mine),
        place=model.place,
        seconds=seconds(strings, sum(x.tokens for x in mine), len(mine)),
        seconds_left=seconds(strings - done, left, len(pending)),
        measured=embedder in facts.records.encoding,
        bytes=strings * size,
        weights=weights(model, facts.assumed),
    )


def dataset_row(facts: Facts, dataset: str) -> DatasetRow:
    """Return what a dataset brings."""
    sample, strings = facts.samples[dataset], facts.strings[dataset]
    asked = [a for (d, _), a in facts.asked.items() if d == dataset]
    return DatasetRow(
        dataset=dataset,
        texts=sample.occurrences,
        unique=sample.unique,
        naive=sum(a.naive for a in asked),
        requests=sum(a.unique for a in asked),
        requests_done=sum(a.unique if a.finished else a.done for a in asked),
        strings=strings.unique,
        exact=sample.how != "estimated",
        requests_exact=all(a.exact for a in asked),
        strings_exact=strings.exact,
        basis=sample.basis,
    )


def elsewhere(facts: Facts) -> dict[str, float]:
    """Return hours that are left for models with weights on each class of GPU that holds all of them."""
    if not any(m.place == "gpu" for m in facts.models.values()):
        return {}
    found = {}
    for device in facts.assumed.devices:
        if device.id != "cpu":
            rows = [
                *(generator_row(facts, g, device) for g in writers(facts)),
                *judge_rows(facts, device),
                *(embedder_row(facts, e, device) for e in facts.plan.config.embedders),
            ]
            found[device.label] = sum(r.seconds_left for r in rows if r.place == "gpu") / 3600
    return found


def ratio(part: float, whole: float) -> float:
    """Return a part of a whole; 0 of nothing."""
    return part / whole if whole else 0.0
