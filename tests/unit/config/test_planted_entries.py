"""Entries of synthetic embedders and generators: checked before any job, and no change for the others."""

import pytest
from config_cases import ROOT, Setup

from stressbed.check import load_run
from stressbed.config.catalogue import identity
from stressbed.config.entries import EmbedderEntry
from stressbed.config.load import read_config
from stressbed.errors import Problems

NOISE = {"noise": 1.0, "effects": {"expand+summarise": 0.5}}


def synthetic(tmp_path, **changes):
    setup = Setup(tmp_path)
    setup.entry("embedders", "words").update(
        {"backend": "planted", "model": "m", "planted": NOISE, **changes}
    )
    return setup


def test_noise_decides_vectors_and_is_no_part_of_other_models_identities(tmp_path):
    one = EmbedderEntry(id="e", backend="planted", model="m", planted=NOISE)
    other = EmbedderEntry(id="e", backend="planted", model="m", planted={**NOISE, "noise": 0.5})
    assert identity("embedder", one) != identity("embedder", other)
    usual = EmbedderEntry(id="random", backend="random", model="random")
    # An entry's identity changes only on purpose, as when `normalise` stopped being the default.
    assert identity("embedder", usual) == "b91421c406c8e0d3594eeccb3ebd4c7b"
    assert synthetic(tmp_path).load().embedder_identity("words")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"planted": None}, "needs the noise"),
        ({"similarity": "dot"}, "vectors of length 1"),
        ({"backend": "random"}, "'planted' has no effect on backend 'random'"),
        ({"planted": {"noise": -1.0}}, "greater than or equal to 0"),
        ({"planted": {"noise": 1.0, "effects": {"Expand": 1.0}}}, "match pattern"),
    ],
)
def test_wrong_synthetic_embedders_are_refused(changes, message, tmp_path):
    with pytest.raises(Problems, match=message):
        synthetic(tmp_path, **changes).load()


def test_a_generator_without_marks_is_refused(tmp_path):
    setup = Setup(tmp_path)
    entry = setup.entry("generators", "llm")
    entry.update(engine="planted", model="m", engine_options={"expand": "Expand", "more": "Expand it"})
    entry.pop("revision", None)
    with pytest.raises(Problems, match="begin alike"):
        setup.load()


def test_the_planted_run_names_every_mark_that_its_generator_leaves():
    plan = load_run(read_config(ROOT / "config" / "planted.yaml"), base=ROOT)
    known = set(plan.catalogue.generators["planted"].engine_options)
    embedders = [plan.catalogue.embedders[e] for e in plan.config.embedders]
    named = {mark for e in embedders for marks in e.planted.effects for mark in marks.split("+")}
    assert named <= known
    assert len({e.model for e in embedders}) == len(embedders), "equal models would share their noise"
