"""A cell against mteb that encodes by itself: the largest difference per type.

The model ends in pooling, so its vectors have lengths of their own and whatever scales them on the way moves
classifications, clusterings, dot products and distances. It goes through the backend `mteb`, as HTEB's do.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from eq_chain import ORIGINAL, Chain
from eq_models import NAME, PACKAGE, REVISION, ending_in_pooling, meta_of
from eq_tasks import KINDS
from test_equal_given_vectors import mteb_directly

from stressbed.config.entries import EmbedderEntry
from stressbed.dataset.quiet import quiet

ALLOWED = 0.05
"""Points of 100."""
OURS = {
    "Classification": "Classify the topic: ", "Clustering": "Identify the topic: ", "STS": "Same meaning: ",
    "Retrieval:query": "Find a passage: ", "Reranking:query": "Rank for: ", "Reranking:document": "Passage: ",
}  # fmt: skip
THEIRS = {key.replace(":", "-"): value for key, value in OURS.items()}
"""mteb writes a task type and a role with a hyphen."""
ENTRY = EmbedderEntry(id="pooling", backend="mteb", model=NAME, revision=REVISION)
TABLE: dict[str, list[float]] = {}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec(PACKAGE) is None, reason="needs small model: the package is not installed"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    quiet()
    return ending_in_pooling(tmp_path_factory.mktemp("model") / "pooling", similarity_fn_name="dot")


@pytest.fixture(scope="module")
def model(folder: Path) -> Iterator[Any]:
    import mteb
    from mteb.models.model_implementations import MODEL_REGISTRY

    MODEL_REGISTRY[NAME] = meta_of(folder, THEIRS, "dot")
    loaded = mteb.get_model(NAME, revision=REVISION)
    assert loaded.mteb_model_meta.similarity_fn_name.value == "dot"
    yield loaded
    del MODEL_REGISTRY[NAME]


def compared(kind: str, entry: EmbedderEntry, model: Any, root: Path) -> list[float]:
    """Return the differences of all metrics of the original and of a rewrite, in points of 100."""
    chain = Chain(root, kind, entry)
    variant = chain.add()
    chain.embed()
    chain.score()
    found = []
    for v in (ORIGINAL, variant):
        expected = mteb_directly(kind, model, transformed=v is variant)
        for subset in chain.cell(v)["subsets"]:
            theirs = expected[subset["subset"]]
            assert len(subset["metrics"]) > 2
            found += [abs(value - float(theirs[name])) * 100 for name, value in subset["metrics"].items()]
            found.append(abs(subset["score"] - float(theirs["main_score"]) * 100))
    return found


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in {"InstructionRetrieval", "RetrievalMRR"}])
def test_difference_to_mteb_encoding_by_itself(kind: str, model: Any, tmp_path: Path) -> None:
    """The entry names no similarity, so the model's own counts, a dot product: STR, retrieval, pairs."""
    differences = TABLE[kind] = compared(kind, ENTRY, model, tmp_path)
    assert max(differences) < ALLOWED


def test_scaling_is_what_an_entry_asks_for_and_moves_scores(model: Any, tmp_path: Path) -> None:
    """With `normalise` the numbers are others, so the comparison above is not an empty one."""
    scaled = ENTRY.model_copy(update={"normalise": True})
    assert max(compared("Classification", scaled, model, tmp_path)) > ALLOWED


def test_a_folder_gives_what_mteb_gives_for_it(folder: Path, model: Any, tmp_path: Path) -> None:
    """The same model as a folder, with the same instruction: the backend `sentence-transformers`."""
    entry = EmbedderEntry(
        id="folder", backend="sentence-transformers", model=str(folder), instructions=OURS, dtype="float32"
    )
    assert max(compared("Classification", entry, model, tmp_path)) < ALLOWED


def test_instructions_reached_both_sides(folder: Path, model: Any, tmp_path: Path) -> None:
    """Without the instruction the score is another one, so the comparison above is not an empty one."""
    plain = EmbedderEntry(id="folder", backend="sentence-transformers", model=str(folder))
    chain = Chain(tmp_path, "Retrieval", plain)
    chain.embed()
    chain.score()
    main = float(mteb_directly("Retrieval", model, transformed=False)["default"]["main_score"]) * 100
    assert abs(chain.cell()["score"] - main) > ALLOWED


def test_table_of_the_largest_differences(capsys: pytest.CaptureFixture[str]) -> None:
    if not TABLE:
        pytest.skip("needs all tests: nothing was compared in this run")
    with capsys.disabled():
        print("\nlargest difference to mteb encoding by itself, points of 100")
        for kind, differences in TABLE.items():
            print(f"  {kind:<26}{max(differences):.6f}  ({len(differences)} numbers)")
    assert max(max(d) for d in TABLE.values()) < ALLOWED
