"""Which instruction wins, compared with mteb's own order."""

from __future__ import annotations

import itertools

import pytest

from stressbed.embed.instructions import instruction_for

MANIFEST = {"dataset": "ask", "task": "AskUbuntuDupQuestions", "task_type": "Reranking"}
KEYS = ["AskUbuntuDupQuestions:query", "AskUbuntuDupQuestions", "Reranking:query", "Reranking", "query"]


@pytest.mark.parametrize("first", range(5))
def test_the_most_specific_key_wins(entry_of, first) -> None:
    entry = entry_of(instructions={k: k for k in KEYS[first:]})
    assert instruction_for(entry, MANIFEST, "query") == KEYS[first]


@pytest.mark.parametrize(
    ("instructions", "role", "expected"),
    [
        ({}, "query", ""),
        ({"query": "q"}, "document", ""),
        ({"query": "q", "document": "d"}, "none", ""),
        ({"Reranking": "t"}, "none", "t"),
        ({"Reranking": "t", "document": "d"}, "document", "t"),
        ({"ask:document": "mine"}, "document", "mine"),
        ({"Retrieval": "other"}, "query", ""),
    ],
)
def test_roles_and_types(entry_of, instructions, role, expected) -> None:
    assert instruction_for(entry_of(instructions=instructions), MANIFEST, role) == expected


def test_the_order_is_that_of_mteb(entry_of) -> None:
    import mteb
    from mteb.models.abs_encoder import get_prompt_name
    from mteb.types import PromptType

    metadata = mteb.get_task("AskUbuntuDupQuestions").metadata
    names = [*KEYS, "document"]
    for size in range(len(names) + 1):
        for chosen in itertools.combinations(names, size):
            entry = entry_of(instructions={n: n for n in chosen})
            prompts = {n.replace(":", "-"): n for n in chosen}
            for role in (PromptType.query, PromptType.document, None):
                theirs = prompts.get(get_prompt_name(prompts, metadata, role) or "", "")
                ours = instruction_for(entry, MANIFEST, "none" if role is None else role.value)
                assert ours == theirs, (chosen, role)
