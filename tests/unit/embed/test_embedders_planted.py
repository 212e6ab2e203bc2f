"""The synthetic embedder: one meaning for all models, and noise that depends on the marks alone."""

import numpy as np
import pytest

from stressbed.config.entries import EmbedderEntry
from stressbed.embed.embedders import open_embedder
from stressbed.embed.embedders.planted import split_marks
from stressbed.errors import EmbedError

WORDS = [f"word{i} word{i + 1} word{i + 2} word{i + 3}" for i in range(400)]
ENGLISH = {"languages": {"default": ["eng-Latn"]}}
GERMAN = {"languages": {"default": ["eng-Latn", "deu-Latn"]}}


def planted(model="m", noise=0.5, **settings):
    entry = EmbedderEntry(id="e", backend="planted", model=model, planted={"noise": noise, **settings})
    return open_embedder(entry, catalogue_folder=None, fit_texts=list)


def encode(embedder, texts, manifest=ENGLISH):
    return embedder.encode(texts, role="none", manifest=manifest)


def closeness(embedder, mark, manifest=ENGLISH):
    """Return the mean cosine of texts with a mark to their meanings without noise."""
    meaning = encode(planted(noise=0), WORDS)
    rewritten = encode(embedder, [f"{w} {mark}".strip() for w in WORDS], manifest)
    return float((meaning * rewritten).sum(axis=1).mean())


def expected(noise):
    # Noise is nearly orthogonal to the meaning, so the two add up as in a right triangle.
    return 1 / np.sqrt(1 + noise**2)


def test_marks_are_no_words():
    assert split_marks("rain cloud @expand #1f @summarise #2e") == (
        ("rain", "cloud"),
        ("expand", "summarise"),
    )


def test_a_rewrite_has_the_meaning_of_its_original_whatever_the_order_and_case():
    still = planted(noise=0)
    one, other = encode(still, ["rain cloud", "Cloud rain @expand #1f"])
    assert one == pytest.approx(other, abs=1e-6)


@pytest.mark.parametrize(
    ("mark", "noise"),
    [("", 0.5), ("@expand #1", 1.2), ("@expand #1 @summarise #2", 0.5), ("@other #1", 0.5)],
    ids=["original", "planted", "not-the-planted-sequence", "null"],
)
def test_noise_is_that_of_an_original_unless_these_marks_are_planted(mark, noise):
    assert closeness(planted(effects={"expand": 0.7}), mark) == pytest.approx(expected(noise), abs=0.01)


def test_effects_are_smaller_where_a_dataset_is_not_all_english():
    model = planted(effects={"expand": 0.8}, not_english=0.25)
    assert closeness(model, "@expand #1") == pytest.approx(expected(1.3), abs=0.01)
    assert closeness(model, "@expand #1", GERMAN) == pytest.approx(expected(0.7), abs=0.01)
    assert closeness(model, "", GERMAN) == pytest.approx(expected(0.5), abs=0.01)
    assert model.context("none", ENGLISH) != model.context("none", GERMAN), "the store would mix them up"


def test_noise_is_drawn_anew_for_each_model_and_text_and_is_the_same_in_every_call():
    mine, again, other = (encode(planted(model=m, noise=5), WORDS) for m in ("a", "a", "b"))
    assert (mine == again).all()
    assert abs((mine * other).sum(axis=1).mean()) < 0.1
    seeds = encode(planted(model="a", noise=5), ["rain @expand #1", "rain @expand #2"])
    assert abs(float(seeds[0] @ seeds[1])) < 0.5


def test_a_batch_does_not_change_a_vector():
    model = planted()
    assert (encode(model, WORDS[:3])[1] == encode(model, WORDS[1:2])[0]).all()


def test_a_null_effect_moves_scores_in_either_direction():
    model = planted()
    pairs = [(f"a{i} b{i} c{i}", f"a{i} b{i} d{i}") for i in range(600)]
    cosines = [
        [float(np.dot(*encode(model, [f"{a} {mark}", f"{b} {mark}"]))) for a, b in pairs]
        for mark in ("", "@expand #1")
    ]
    delta = np.subtract(cosines[1], cosines[0])
    assert 0.4 < (delta > 0).mean() < 0.6
    assert abs(delta.mean()) < 3 * delta.std() / np.sqrt(len(delta))


def test_an_entry_without_noise_is_refused():
    with pytest.raises(EmbedError, match="nothing is planted"):
        open_embedder(
            EmbedderEntry(id="e", backend="planted", model="m"), catalogue_folder=None, fit_texts=list
        )
