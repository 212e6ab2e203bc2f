"""What the dry run finds: joins, samples, roles, and nothing else."""

from __future__ import annotations

import pandas as pd
import pytest
from ds_samples import HashEncoder, entry_of, evaluate, tables_of

from stressbed.dataset import record as module
from stressbed.dataset.freeze import freeze
from stressbed.dataset.record import Template, parse, record, strings_of
from stressbed.dataset.thaw import thaw
from stressbed.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore")


def mark(i: int) -> str:
    return f" \ue000{i}\ue001 "


@pytest.mark.parametrize(
    ("string", "expected"),
    [
        (mark(7), Template("query", ("", ""), (7,), False)),
        (mark(7).strip(), Template("query", ("", ""), (7,), True)),
        (f"{mark(1)} {mark(2)}", Template("query", ("", " ", ""), (1, 2), False)),
        (f"{mark(1)} {mark(2)}".strip(), Template("query", ("", " ", ""), (1, 2), True)),
        (f"user: {mark(3)}; bot: {mark(4)}", Template("query", ("user: ", "; bot: ", ""), (3, 4), False)),
        ("", Template("query", ("",), (), False)),
    ],
)
def test_markers_say_what_a_string_is_made_of(string, expected):
    assert parse("query", string) == expected


def test_a_template_joins_before_it_strips():
    template = Template("document", ("", " ", ""), (1, 2), True)
    assert template.fill({1: " Title ", 2: "\nbody\t"}) == "Title  \nbody"


def frozen(task_type, tmp_path, **changes):
    tables = {**tables_of(task_type), **changes}
    freeze(entry_of(task_type, tables, tmp_path), tmp_path, tmp_path / "out")
    record(tmp_path / "out")
    return (
        pd.read_parquet(tmp_path / "out" / "texts.parquet"),
        pd.read_parquet(tmp_path / "out" / "inputs.parquet"),
    )


def test_training_texts_that_no_experiment_draws_are_not_listed(tmp_path):
    rows = [{"text": f"row {i}", "label": "ab"[i % 2]} for i in range(600)]
    texts, _ = frozen("Classification", tmp_path, train=rows)
    listed = texts[texts["split"] == "train"]
    assert len(listed) <= 2 * 8 * 10  # labels x samples per label x experiments
    encoder = HashEncoder()
    evaluate(thaw(tmp_path / "out"), encoder)
    assert {s for _, s in encoder.seen if s.startswith("row ")} == set(listed["text"])


def test_a_title_is_a_text_of_its_own_and_empty_ones_are_not_listed(tmp_path):
    texts, inputs = frozen("Retrieval", tmp_path)
    titles = texts[texts["field"] == "corpus.title"]
    assert len(titles) == 20  # of 30 documents a third has none
    documents = inputs[inputs["role"] == "document"]
    assert documents["strip"].all()
    assert sorted(map(len, documents["text_ids"])) == [1] * 10 + [2] * 20
    queries = inputs[inputs["role"] == "query"]
    assert {tuple(x) for x in queries["literals"]} == {("", " ", "")}  # text and instruction
    assert not queries["strip"].any()


def test_replacements_reach_only_the_strings_that_hold_them(tmp_path):
    texts, inputs = frozen("Retrieval", tmp_path)
    title = int(texts[texts["field"] == "corpus.title"]["text_id"].iloc[0])
    before, after = strings_of(texts, inputs, {}), strings_of(texts, inputs, {title: "Changed"})
    different = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    assert len(different) == 1
    assert different[0][1][1].startswith("Changed ")


def test_equal_texts_are_one_string_but_two_texts(tmp_path):
    rows = [{"sentence1": "same", "sentence2": f"other {i}", "score": i} for i in range(4)]
    texts, inputs = frozen("STS", tmp_path, test=rows)
    assert (texts["text"] == "same").sum() == 4
    assert strings_of(texts, inputs, {}).count(("none", "same")) == 1
    first = int(texts[texts["text"] == "same"]["text_id"].iloc[0])
    assert len(strings_of(texts, inputs, {first: "new"})) == len(strings_of(texts, inputs, {})) + 1


def test_an_unknown_replacement_is_refused(tmp_path):
    texts, inputs = frozen("STS", tmp_path)
    with pytest.raises(KeyError, match="unknown text ids"):
        strings_of(texts, inputs, {9999: "x"})


def test_the_list_is_the_same_every_time(tmp_path):
    frozen("MultilabelClassification", tmp_path)
    names = ("texts.parquet", "inputs.parquet")
    first = [(tmp_path / "out" / n).read_bytes() for n in names]
    record(tmp_path / "out")
    assert [(tmp_path / "out" / n).read_bytes() for n in names] == first


def test_a_join_that_the_markers_do_not_show_is_an_error(tmp_path, monkeypatch):
    """Were a string cut by its length, say, the markers' templates could not give it back."""
    tables = tables_of("STS")
    freeze(entry_of("STS", tables, tmp_path), tmp_path, tmp_path / "out")
    honest = module.dry_run
    monkeypatch.setattr(module, "dry_run", lambda task: [(r, s[:20]) for r, s in honest(task)])
    with pytest.raises(DataError, match="not the joins"):
        record(tmp_path / "out")
    assert not (tmp_path / "out" / "texts.parquet").exists()


def test_a_frozen_task_can_be_recorded_with_the_hub_switched_off(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    texts, _ = frozen("Summarization", tmp_path)
    assert set(texts["field"]) == {"human_summaries", "machine_summaries"}  # never the source text
    assert texts["position"].max() == 4


def test_each_turn_of_a_conversation_is_a_text_of_its_own(tmp_path):
    """Queries that are conversations: mteb joins the turns with their roles."""
    from datasets import Dataset
    from ds_samples import by_hand

    from stressbed.dataset.layout import slots
    from stressbed.dataset.record import dry_run

    def build():
        task = by_hand("Retrieval", tables_of("Retrieval"))
        data = task.dataset["default"]["test"]
        turns = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes?"}]
        data["queries"] = Dataset.from_list([{"id": f"q{i}", "text": turns} for i in range(8)])
        return task

    task = build()
    for slot in slots(task):
        numbers = iter(range(1000))
        if slot.field == "queries.text":
            assert [(p, t) for _, p, t in slot.texts()][:2] == [(0, "hi"), (1, "yes?")]
            slot.substitute(lambda *_, numbers=numbers: mark(next(numbers)))
    queries = [parse(role, string) for role, string in dry_run(task) if role == "query"]
    assert queries[0] == Template("query", ("user: ", "; assistant: ", ""), (0, 1), False)
    assert {t.fill(dict.fromkeys(t.text_ids, "x")) for t in queries} == {"user: x; assistant: x"}


def test_a_local_subset_may_have_a_name(tmp_path):
    tables = tables_of("STS")
    entry = entry_of("STS", tables, tmp_path, subsets=["swiss"], languages={"swiss": ["deu-Latn"]})
    freeze(entry, tmp_path, tmp_path / "out")
    record(tmp_path / "out")
    texts = pd.read_parquet(tmp_path / "out" / "texts.parquet")
    assert (set(texts["subset"]), set(texts["language"])) == ({"swiss"}, {"deu-Latn"})
    assert set(evaluate(thaw(tmp_path / "out"), HashEncoder())["test"]) == {"swiss"}
