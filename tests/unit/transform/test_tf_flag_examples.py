"""Hand-made examples of every flag: what it must find and what it must leave alone, in several languages."""

from pathlib import Path

import pytest
from tf_examples import NEGATIVE, POSITIVE

from stressbed.config.catalogue import Catalogue
from stressbed.transform.flags import FLAGS, Thresholds, flag
from stressbed.transform.markers import Markers

CATALOGUE = Path(__file__).parents[3] / "config" / "catalogue"
MARKERS = Markers.of(Catalogue.read([CATALOGUE / "markers.yaml"]).markers.values())

KIND = {"summary_too_long": "summarise"}


def judged(name, example, **thresholds):
    language, original, output = example
    found = flag(
        original, output, kind=KIND.get(name, "rewrite"), language=language, markers=MARKERS,
        thresholds=Thresholds(**thresholds),
    )  # fmt: skip
    return getattr(found, name)


@pytest.mark.parametrize(("name", "example"), [(n, e) for n in FLAGS for e in POSITIVE[n]])
def test_found(name, example):
    assert judged(name, example)


@pytest.mark.parametrize(("name", "example"), [(n, e) for n in FLAGS for e in NEGATIVE[n]])
def test_left_alone(name, example):
    assert not judged(name, example)


@pytest.mark.parametrize("examples", [POSITIVE, NEGATIVE])
def test_enough_examples(examples):
    assert set(examples) == set(FLAGS)
    for name, found in examples.items():
        assert len(set(found)) >= 12, name
        assert len({language for language, _, _ in found}) >= 4, name


@pytest.mark.parametrize(
    ("name", "example"),
    [
        ("json_fragment", ("eng", "[1] A man sings.", "[1] A singer.")),
        ("prefix_leak", ("eng", "Summary: a man sings.", "Summary: a singer.")),
        ("reasoning_leak", ("fra", "Step 1: read.", "Étape 1 : lire.")),
    ],
)
def test_the_papers_words_look_at_the_output_alone(name, example):
    assert judged(name, example, excuse_input=False)
    assert not judged(name, example)


@pytest.mark.parametrize("kind", ["rewrite", "expand"])
def test_length_rules_of_other_kinds(kind):
    found = flag("Paris", "a " * 40, kind=kind, language="eng", markers=MARKERS)
    assert found.runaway == (kind == "rewrite")
    assert not found.summary_too_long
