"""From a config to a plan: the axes of a run, its paths, and what decides each of its jobs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from stressbed import paths
from stressbed.config import secrets
from stressbed.config.catalogue import KINDS, Catalogue, identity, problems_of
from stressbed.config.entries import SelectionEntry, TranslateDataset
from stressbed.config.model import AUTO, RunConfig
from stressbed.config.model_files import model_files
from stressbed.config.translations import Translation, translation_of
from stressbed.config.values import given_path
from stressbed.config.words import Spelled, typed_at
from stressbed.config.yamlfile import read_mapping
from stressbed.errors import Problems, StressbedError
from stressbed.fingerprint import digest
from stressbed.paths import Variant
from stressbed.sources import resolve

RATING_SUFFIXES = frozenset({".csv", ".tsv", ".txt", ".xlsx"})
"""Kinds of files that a folder of ratings may hold; others in it are left alone."""


@dataclass(frozen=True)
class Plan:
    """A checked run config with its catalogue."""

    config: RunConfig
    catalogue: Catalogue
    base: Path
    _files: dict[tuple[str, str], dict[str, str] | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def results(self) -> Path:
        """Folder of all results."""
        return Path(self.config.results)

    @property
    def run_folder(self) -> Path:
        """Folder of this run's outputs."""
        return self.results / paths.RUN_FOLDER.format(run=self.config.run)

    @property
    def auto(self) -> bool:
        """Whether a selection chooses the generator."""
        return self.config.generator == [AUTO]

    @property
    def only_selects(self) -> bool:
        """Whether the run makes a selection and nothing else."""
        c = self.config
        return c.selection is not None and not any([c.datasets, c.embedders, c.transformations, c.seeds])

    @property
    def selection(self) -> SelectionEntry | None:
        """The run's selection, if it has one."""
        name = self.config.selection
        return None if name is None else self.catalogue.selections[name]

    @property
    def selection_folder(self) -> Path:
        """Folder of the run's selection."""
        return self.results / paths.SELECTION.format(selection=self.config.selection)

    @property
    def generators(self) -> list[str]:
        """All generators that the run may use: its own, its selection's, and translators of datasets."""
        own = [] if self.auto else self.config.generator
        chosen = self.selection
        others = [] if chosen is None else [*chosen.candidates, *chosen.judges]
        return list(dict.fromkeys([*own, *others, *(t.generator for t in self._translated)]))

    @property
    def datasets(self) -> list[str]:
        """All datasets that the run uses: its own, its selection's, and sources of translated ones."""
        return list(dict.fromkeys([*self._evaluated, *(t.source for t in self._translated)]))

    @property
    def transformations(self) -> list[str]:
        """All transformations that the run uses: its own, its selection's, those of translated datasets."""
        chosen = self.selection
        others = [] if chosen is None else chosen.transformations
        translating = [t.transformation for t in self._translated]
        return list(dict.fromkeys([*self.config.transformations, *others, *translating]))

    @property
    def _evaluated(self) -> list[str]:
        """The run's own datasets and its selection's."""
        chosen = self.selection
        return list(dict.fromkeys([*self.config.datasets, *([] if chosen is None else [chosen.dataset])]))

    @property
    def _translated(self) -> list[TranslateDataset]:
        """What translated datasets are made of; names in it may be wrong until the run is checked."""
        entries = [self.catalogue.datasets.get(name) for name in self._evaluated]
        return [e.translate_dataset for e in entries if e is not None and e.translate_dataset is not None]

    @property
    def translations(self) -> list[Translation]:
        """How each translated dataset of the run, or of its selection, comes from its source."""
        return [t for t in map(self.translation, self._evaluated) if t is not None]

    def translation(self, dataset: str) -> Translation | None:
        """Return how a dataset is translated from another; None for all other datasets."""
        return translation_of(dataset, self.catalogue)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Pairs of embedder and dataset that have cells: all, unless a setting names its embedders."""
        c = self.config
        mine = {d: set(s.embedders) for s in c.settings.values() if s.embedders for d in s.datasets}
        return [(e, d) for e in c.embedders for d in c.datasets if d not in mine or e in mine[d]]

    def rating_files(self) -> list[Path]:
        """Return the files with people's ratings that the config names, those in its folders included."""
        study = self.config.human
        found: list[Path] = []
        for name in [] if study is None else study.ratings:
            path = self.base / name
            if path.is_dir():
                found += sorted(p for p in path.iterdir() if p.suffix.lower() in RATING_SUFFIXES)
            elif path.is_file():
                found.append(path)
        return found

    def with_winner(self, winner: str) -> Plan:
        """Return the plan in which `generator: auto` has become a candidate's id; others as they are."""
        if not self.auto:
            return self
        return replace(self, config=self.config.model_copy(update={"generator": [winner]}))

    @property
    def rewrites(self) -> list[Variant]:
        """Variants that a generator makes."""
        return [
            Variant(g, t, s)
            for g in self.config.generator
            for t in self.config.transformations
            for s in self.config.seeds
        ]

    @property
    def variants(self) -> list[Variant]:
        """All variants, the original first."""
        return [Variant.parse(paths.ORIGINAL), *self.rewrites]

    def dataset_identity(self, dataset: str) -> str:
        """Return the hash of a dataset's entry; of a translated one, also of all that made it."""
        own = identity("dataset", self.catalogue.datasets[dataset])
        made = self.translation(dataset)
        if made is None:
            return own
        by = [self.generator_identity(made.generator), self.catalogue.identity_of(made.entry), made.seed]
        return digest([own, self.dataset_identity(made.source), *by])

    def generator_identity(self, generator: str) -> str:
        """Return the hash of what decides a generator's answer to a given request."""
        return identity(
            "generator", self.catalogue.generators[generator], self.files("generators", generator)
        )

    def embedder_identity(self, embedder: str) -> str:
        """Return the hash of what decides an embedder's vectors."""
        return identity("embedder", self.catalogue.embedders[embedder], self.files("embedders", embedder))

    def files(self, kind: str, name: str) -> dict[str, str] | None:
        """Return the hash of each file that a model on this machine is read from; None for all others.

        They are looked at once in the life of a plan: a run works with what was there when it began.

        Args:
            kind: `embedders` or `generators`.
            name: Catalogue id.
        """
        if (kind, name) not in self._files:
            entry = getattr(self.catalogue, kind)[name]
            origin = self.catalogue.origin.get((kind, name))
            self._files[kind, name] = model_files(entry, self.base if origin is None else origin.parent)
        return self._files[kind, name]

    def of_used_entries(self) -> Plan:
        """Return the plan with those entries of its catalogue that the run or its selection names."""
        c, catalogue, chosen = self.config, self.catalogue, self.selection
        steps = [s.prompt for t in self.transformations for s in catalogue.transformations[t].steps]
        used = {
            "datasets": self.datasets,
            "embedders": c.embedders,
            "generators": self.generators,
            "transformations": self.transformations,
            "prompts": steps,
            "judge_prompts": [] if chosen is None else [chosen.judge_prompt],
            "selections": [] if chosen is None else [chosen.id],
            "markers": list(catalogue.markers),
        }
        entries: dict[str, Any] = {
            kind: {n: getattr(catalogue, kind)[n] for n in dict.fromkeys(used[kind])} for kind in KINDS
        }
        origin = {at: file for at, file in catalogue.origin.items() if at[1] in entries[at[0]]}
        return replace(self, catalogue=Catalogue(**entries, origin=origin))

    def dump(self) -> str:
        """Return the plan as JSON, from which `parse` makes an equal one without reading any file."""
        c = self.catalogue
        entries = {k: {n: e.model_dump(mode="json") for n, e in getattr(c, k).items()} for k in KINDS}
        kept = {
            "config": self.config.model_dump(mode="json"),
            "catalogue": entries,
            "origin": [[kind, name, str(file)] for (kind, name), file in sorted(c.origin.items())],
            "base": str(self.base),
        }
        return json.dumps(kept, sort_keys=True)

    @classmethod
    def parse(cls, text: str) -> Plan:
        """Return the plan that `dump` was called on."""
        kept = json.loads(text)
        entries: dict[str, Any] = {
            kind: {
                n: KINDS[kind].model_validate_json(json.dumps(e)) for n, e in kept["catalogue"][kind].items()
            }
            for kind in KINDS
        }
        origin = {(kind, name): Path(file) for kind, name, file in kept["origin"]}
        config = RunConfig.model_validate_json(json.dumps(kept["config"]))
        return cls(config, Catalogue(**entries, origin=origin), Path(kept["base"]))

    def local_files(self, dataset: str) -> list[Path]:
        """Return the files that a local dataset is read from."""
        entry = self.catalogue.datasets[dataset]
        folder = self.catalogue.origin["datasets", dataset].parent
        return [resolve(f, folder) for f in entry.files.values()]


def read_config(path: str | Path) -> Spelled:
    """Return the mapping in a run config's file.

    Raises:
        ConfigError: The file is missing, empty, not UTF-8, not YAML, has a key twice, or is no mapping.
    """
    return read_mapping(path, "run config")


def read_run(
    config: Mapping[str, Any], *, base: Path, files: Iterable[Spelled], given: Collection[str]
) -> tuple[Plan, list[StressbedError]]:
    """Return the plan of a run and what is wrong in its config and catalogue (refused by `check.load_run`).

    Args:
        config: The run config.
        base: Folder that holds `config/catalogue`.
        files: The files that `config` was made of, where it is none itself: their words stand in messages.
        given: Keys that stand on the command line, within whose values Snakemake leaves numbers as text.

    Raises:
        Problems: The config is no run config; what is wrong with the catalogue is said beside.
    """
    spelling = {p: s for f in [*files, config] if isinstance(f, Spelled) for p, s in f.spelling.items()}
    problems: list[StressbedError] = list(secrets.find(dict(config), "run config"))
    run: RunConfig | None = None
    try:
        run = _validated(dict(config), given)
    except ValidationError as e:
        problems += problems_of(e, "run config", RunConfig, spelling)
    named = _paths(config.get("catalogue")) if run is None else run.catalogue
    sources = [base / "config" / "catalogue", *(base / c for c in named)]
    catalogue = Catalogue.read_what_can_be(sources, problems)
    if run is None:
        raise Problems(problems)
    return Plan(run, catalogue, base), problems


def _validated(config: dict[str, Any], given: Collection[str]) -> RunConfig:
    """Return the run config, in which nested numbers of the command line may be text.

    Raises:
        ValidationError: A value is wrong.
    """
    try:
        return RunConfig.model_validate(config)
    except ValidationError as e:
        typed = deepcopy(config)
        changed = [
            typed_at(typed, x["loc"], x["input"])
            for x in e.errors()
            if x["loc"][:1] and x["loc"][0] in given and not x["type"].startswith("string_")
        ]
        if not any(changed):
            raise
    return RunConfig.model_validate(typed)


def _paths(value: Any) -> list[str]:
    """Return the catalogue's files of a config that is wrong elsewhere, as far as they can be used."""
    names = value if isinstance(value, list) else [value]
    found = []
    for name in names:
        try:
            found.append(str(given_path(name)))
        except (TypeError, ValueError):
            continue
    return found
