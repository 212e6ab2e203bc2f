"""What things are called and in which order they stand in tables and figures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from stressbed.config.entries import DatasetEntry, Question, TransformationEntry
from stressbed.config.load import Plan
from stressbed.fingerprint import digest
from stressbed.languages import language_of

AXES = ("lexical_stylistic", "length", "language")

AXIS_LABELS = {
    "original": "Original",
    "lexical_stylistic": "Lexical/Stylistic",
    "length": "Length",
    "language": "Language",
    "hteb": "HTEB",
    "drop": "Drop",
    "english": "English",
    "non_english": "Non-English",
}

ALL_DATASETS = "all"
"""Setting of every dataset of a run that declares none."""

ENGLISH, NON_ENGLISH = "english", "non_english"

SIZE = re.compile(r"(\d+(?:\.\d+)?)([MB])\b")
"""What may be a number of parameters within a label, as in `Qwen3-Embedding-8B`."""


ROUNDED = 0.3
"""How far a label's figure may be from the number of parameters: makers leave out embeddings, or round."""


@dataclass(frozen=True)
class Names:
    """Labels by catalogue id; the order of each mapping is the order of rows and columns.

    Attributes:
        embedders: Label of each embedder, in the order of the run's config.
        datasets: Label of each dataset, in the order of the run's config.
        generators: Label of each generator, in the order of the run's config.
        transformations: Label of each transformation, by axis and `order` in the catalogue.
        axes: Axis of each transformation.
        colours: Colour by catalogue id or axis (hex), where the run's config sets one.
        parameters: Number of parameters of each embedder, where the catalogue knows it.
        families: Family of each embedder, where the catalogue names one.
        settings: Setting of each dataset; `ALL_DATASETS` if the run has none.
        members: Embedders of each setting that names its own.
        setting_labels: Label of each setting, where the run's config gives one.
        language_groups: `english` where all of a dataset's texts are, else `non_english`.
        translations: Dataset that each translated dataset was made from.
        questions: Question of the recommendation that each transformation answers, where it answers one.
        crossings: Pairs of transformations that differ in one thing: the first draws a language for many
            texts, the second one for each.
        varying: Per generator the transformations in which seeds can differ: a language is drawn, or
            tokens are.
        sampled: Generators that draw tokens: none of their seeds repeats another.
    """

    embedders: Mapping[str, str]
    datasets: Mapping[str, str]
    generators: Mapping[str, str]
    transformations: Mapping[str, str]
    axes: Mapping[str, str]
    colours: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, int] = field(default_factory=dict)
    families: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    members: Mapping[str, Sequence[str]] = field(default_factory=dict)
    setting_labels: Mapping[str, str] = field(default_factory=dict)
    language_groups: Mapping[str, str] = field(default_factory=dict)
    translations: Mapping[str, str] = field(default_factory=dict)
    questions: Mapping[str, Question] = field(default_factory=dict)
    crossings: Sequence[tuple[str, str]] = ()
    varying: Mapping[str, frozenset[str]] = field(default_factory=dict)
    sampled: frozenset[str] = frozenset()

    @classmethod
    def of(cls, plan: Plan) -> Names:
        """Return the names of a run; its `labels` come before the catalogue's."""
        c, catalogue = plan.config, plan.catalogue
        entries = sorted(
            (catalogue.transformations[t] for t in c.transformations),
            key=lambda e: (AXES.index(e.axis), e.order),
        )
        return cls(
            embedders={e: c.labels.get(e) or catalogue.embedders[e].label or e for e in c.embedders},
            datasets={d: c.labels.get(d, d) for d in c.datasets},
            generators={g: c.labels.get(g) or catalogue.generators[g].label or g for g in c.generator},
            transformations={e.id: c.labels.get(e.id) or e.label for e in entries},
            axes={e.id: e.axis for e in entries},
            colours=dict(c.colours),
            parameters={e: n for e in c.embedders if (n := catalogue.embedders[e].parameters)},
            families={e: f for e in c.embedders if (f := catalogue.embedders[e].family)},
            settings=_settings(plan),
            members={name: s.embedders for name, s in c.settings.items() if s.embedders},
            setting_labels={name: s.label for name, s in c.settings.items() if s.label},
            language_groups={d: _language_group(catalogue.datasets[d]) for d in c.datasets},
            translations={d: t.source for d in c.datasets if (t := plan.translation(d))},
            questions={e.id: q for e in entries if (q := question_of(e))},
            crossings=_crossings(entries),
            varying={g: frozenset(t.id for t in entries if _varies(plan, g, t.id)) for g in c.generator},
            sampled=frozenset(g for g in c.generator if catalogue.generators[g].sampling.temperature > 0),
        )

    @classmethod
    def of_selection(cls, plan: Plan) -> Names:
        """Return the names of a run's selection: its candidates and judges, and what they are asked for."""
        chosen = plan.selection
        if chosen is None:
            raise LookupError("the run has no selection")
        of_it = plan.config.model_copy(
            update={
                "generator": list(dict.fromkeys([*chosen.candidates, *chosen.judges])),
                "transformations": chosen.transformations,
                "datasets": [chosen.dataset],
                "embedders": [],
            }
        )
        return cls.of(replace(plan, config=of_it))

    def fingerprint(self) -> str:
        """Return the hash of all labels and orders; colours change figures only and are left out."""
        shown = (
            self.embedders,
            self.datasets,
            self.generators,
            self.transformations,
            self.axes,
            self.parameters,
            self.families,
            self.settings,
            self.members,
            self.setting_labels,
            self.language_groups,
            self.translations,
            self.questions,
            dict(self.crossings),
            {g: sorted(t) for g, t in self.varying.items()},
            dict.fromkeys(sorted(self.sampled), ""),
        )
        return digest([list(map(list, mapping.items())) for mapping in shown])

    @property
    def setting_order(self) -> list[str]:
        """The settings in the order of the run's config."""
        return list(dict.fromkeys(self.settings.values())) or [ALL_DATASETS]

    def setting(self, dataset: str) -> str:
        """Return the setting of a dataset."""
        return self.settings.get(dataset, ALL_DATASETS)

    def embedders_of(self, setting: str) -> list[str]:
        """Return the embedders that have cells in a setting."""
        return [e for e in self.embedders if e in self.members.get(setting, self.embedders)]

    def in_setting(self, setting: str) -> list[str]:
        """Return the datasets of a setting, in the run's order."""
        return [d for d in self.datasets if self.setting(d) == setting]

    def label(self, name: str) -> str:
        """Return the label of an id, an axis or a column; the name itself where there is none."""
        ids = (self.embedders, self.datasets, self.generators, self.transformations, self.setting_labels)
        for known in (*ids, AXIS_LABELS):
            if name in known:
                return known[name]
        return name

    def sized(self, embedder: str) -> str:
        """Return an embedder's label with its size in parentheses, where known and not in the label."""
        n, label = self.parameters.get(embedder), self.label(embedder)
        return f"{label} ({short_number(n)})" if n and not _says(label, n) else label


def _says(label: str, n: int) -> bool:
    """Return whether a label holds a number of parameters: a figure and a unit that are near enough."""
    said = (float(figure) * {"M": 1e6, "B": 1e9}[unit] for figure, unit in SIZE.findall(label))
    return any(abs(s - n) <= ROUNDED * n for s in said)


def question_of(entry: TransformationEntry) -> Question | None:
    """Return which question of the recommendation a transformation answers; None for none.

    What the entry says comes first. Otherwise what it does decides, so that variants of the paper's (another
    language pool, queries only) count; whether a text is said anew only the entry can say.
    """
    if entry.question is not None:
        return None if entry.question == "none" else entry.question
    if entry.axis == "language":
        return None if entry.draw == "none" else "mixed" if entry.draw == "text" else "language"
    if entry.axis != "length" or len(entry.steps) > 1:
        return None  # Backtranslation, Summarised Expansion: nobody does that to a text at work
    return "longer" if entry.steps[0].expands else "shorter" if entry.kind == "summarise" else None


def _crossings(entries: Sequence[TransformationEntry]) -> tuple[tuple[str, str], ...]:
    """Return pairs with the same steps, pool and fields, the first of which draws for many texts at once."""

    def alike(e: TransformationEntry) -> str:
        return digest([[s.model_dump() for s in e.steps], sorted(e.pool), e.fields])

    single, each = (
        {alike(e): e.id for e in entries if e.axis == "language" and question_of(e) == q}
        for q in ("language", "mixed")
    )
    return tuple((single[key], each[key]) for key in single if key in each)


def _settings(plan: Plan) -> dict[str, str]:
    chosen = {d: name for name, s in plan.config.settings.items() for d in s.datasets}
    order = list(plan.config.settings)
    named = {d: chosen.get(d, ALL_DATASETS) for d in plan.config.datasets}
    return dict(sorted(named.items(), key=lambda item: order.index(item[1]) if order else 0))


def _language_group(entry: DatasetEntry) -> str:
    """Return whether all of a dataset's texts are English."""
    languages = {language_of(x) for listed in entry.languages.values() for x in listed}
    languages |= {language_of(x) for fields in entry.field_languages.values() for x in fields.values()}
    return ENGLISH if languages == {language_of("eng")} else NON_ENGLISH


def _varies(plan: Plan, generator: str, transformation: str) -> bool:
    """Return whether seeds can make a difference: tokens are drawn, or a language is."""
    entry = plan.catalogue.transformations[transformation]
    drawn = entry.draw != "none" and len(entry.pool) > 1
    return drawn or plan.catalogue.generators[generator].sampling.temperature > 0


def short_number(n: int) -> str:
    """Return a number of parameters as it is usually given: 33M, 568M, 7.6B."""
    if n >= 1e9:
        return f"{n / 1e9:.2g}B" if n < 1e10 else f"{n / 1e9:.0f}B"
    return f"{n / 1e6:.0f}M" if n >= 1e6 else f"{n / 1e3:.0f}K"
