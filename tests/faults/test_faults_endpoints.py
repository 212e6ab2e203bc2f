"""Cases of endpoints that misbehave (tests/data/failing), run job by job with the workflow's own scripts."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import yaml
from loopback_endpoint import Endpoint
from misbehaving import chat_rule, embedding_rule, rewrite
from staged import ROOT, Run

from stressbed import paths, redaction
from stressbed.generate.completions import CompletionStore

CASES = ROOT / "tests/data/failing"
KNIFE = ["She cut the bread with a knife.", "He sliced the loaf with a knife."]

Case = Callable[[str], Run]


@pytest.fixture
def case(tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Case:
    """Return a case's run at the test's own endpoint, prepared up to what an endpoint is asked for."""
    monkeypatch.setattr(redaction, "_known", {})

    def _case(number: str) -> Run:
        (source,) = CASES.glob(f"{number}-*")
        shutil.copytree(source, tmp_path / "case")
        path = tmp_path / "case/catalogue.yaml"
        path.write_text((source / "cat.yaml").read_text().replace("http://127.0.0.1:8912/v1", endpoint.url))
        config = yaml.safe_load((source / "run.yaml").read_text())
        names = {"dataset": "pairs", "generator": config["generator"], "embedder": config["embedders"][0]}
        run = Run(tmp_path / "case", {**config, "catalogue": [str(path)]}, names)
        run.until("texts")
        return run

    return _case


def rewritten(run: Run, endpoint: Endpoint, mode: str) -> pd.DataFrame:
    """Run the jobs up to the rewritten texts; return their table by original."""
    endpoint.rule = chat_rule(mode)
    for stage in ("generate", "transform"):
        ended = run.job(stage)
        assert ended.code == 0, ended.said
    (path,) = run.grid.all_rewrites(paths.TRANSFORM)
    return pd.read_parquet(path).set_index("original")


def asked(endpoint: Endpoint, text: str) -> int:
    return sum(text in b["messages"][-1]["content"] for b in endpoint.bodies)


@pytest.mark.parametrize(
    ("mode", "reason", "times", "kept"),
    [("errfin", "broken", 3, 8), ("filterfin", "filtered", 2, 10), ("filter400", "refused", 1, 10)],
)
def test_a_text_without_a_finished_answer_keeps_its_original_and_the_others_are_rewritten(
    case: Case, endpoint: Endpoint, mode: str, reason: str, times: int, kept: int
) -> None:
    """Cases 04, 05: a broken answer is asked for in all attempts, a filtered one at another temperature."""
    run = case("05" if mode == "filter400" else "04")
    table = rewritten(run, endpoint, mode)
    for text in KNIFE:
        row = table.loc[text]
        assert row[["text", "outcome", "reason", "empty"]].tolist() == [text, "fallback", reason, True]
        assert asked(endpoint, text) == times
    others = table.drop(index=KNIFE)
    assert (others["outcome"] == "ok").all()
    assert others["text"].tolist() == [rewrite(t) for t in others.index]
    found = len(endpoint.bodies)
    again = run.job("generate")
    assert again.code == 0
    # Refusals are final and in the store; what broke off is not, and may go well the next time.
    assert len(endpoint.bodies) - found == (2 * 3 if reason == "broken" else 0)
    counted = {"refused": 0, "broken": 0, ("broken" if reason == "broken" else "refused"): 2}
    assert {k: again.counters[k] for k in counted} == counted
    (folder,) = (run.results / ".store/completions").iterdir()
    assert sum(c.finish == "stop" for c in stored(folder)) == 8
    assert len({c.key for c in stored(folder)}) >= kept


def stored(folder: Path) -> list:
    store = CompletionStore(folder)
    store._refresh()
    keys = [f"{h:016x}{low:016x}" for h, low in zip(
        store._index.entries["high"].tolist(), store._index.entries["low"].tolist(), strict=True
    )]  # fmt: skip
    return list(store.get_many(keys).values())


@pytest.mark.parametrize(
    ("number", "mode"), [("06", "parts"), ("11", "err200"), ("04", "space"), ("09", "topp")]
)
def test_odd_answers_that_hold_a_finished_text_are_rewrites(
    case: Case, endpoint: Endpoint, number: str, mode: str
) -> None:
    """Cases 06, 09 and 11."""
    table = rewritten(case(number), endpoint, mode)
    assert (table["outcome"] == "ok").all()
    assert table["text"].tolist() == [rewrite(t) for t in table.index]


@pytest.mark.parametrize(
    ("mode", "reason", "times"),
    [("emptychoices", "broken", 3), ("refusalfield", "refused", 1), ("nullthink", "empty", 2)],
)  # fmt: skip
def test_answers_without_any_text_are_outcomes(
    case: Case, endpoint: Endpoint, mode: str, reason: str, times: int
) -> None:
    table = rewritten(case("04"), endpoint, mode)
    assert (table["text"] == table.index).all()
    assert set(zip(table["outcome"], table["reason"], strict=True)) == {("fallback", reason)}
    assert len(endpoint.bodies) == 10 * times


def test_a_longer_timeout_asks_for_nothing_anew(case: Case, endpoint: Endpoint) -> None:
    """Case 07."""
    run = case("07")
    rewritten(run, endpoint, "plain")
    before = run.grid.decides("generate", run.names)
    run.catalogue(
        "generators", concurrency=2,
        engine_options={"tries": 5, "timeout_s": 300, "wait_scale": 0.1, "longest_wait_s": 9},
    )  # fmt: skip
    assert run.grid.decides("generate", run.names) == before
    assert run.job("generate").counters["reused"] == 10
    assert len(endpoint.bodies) == 10


def test_a_model_that_takes_only_its_own_temperature_is_usable_and_the_advice_says_how(
    case: Case, endpoint: Endpoint
) -> None:
    run = case("09")
    run_with: dict[str, object] = {"tries": 3, "wait_scale": 0.05}
    endpoint.rule = chat_rule("o1")
    for advice, option in (
        ("engine_options: {limit_field: max_completion_tokens}", {"limit_field": "max_completion_tokens"}),
        ("engine_options: {temperature: null}", {"temperature": None}),
    ):
        ended = run.job("generate")
        assert ended.code == 1
        assert advice in ended.said
        run_with |= option
        run.catalogue("generators", engine_options=dict(run_with))
    assert (rewritten(run, endpoint, "o1")["outcome"] == "ok").all()


@pytest.mark.parametrize("mode", ["shuffled", "noindex", "batch4", "err200"])
def test_embeddings_come_whatever_stands_around_them(
    case: Case, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """Cases 08 and 10: a line end after the key, and a proxy that this machine's addresses need not."""
    key = "made-up-key-123"
    monkeypatch.setenv("EP_KEY", f"{key}\n")
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    run = case("08")
    for stage in ("generate", "transform"):
        assert run.job(stage).code == 0
    endpoint.rule = embedding_rule(mode)
    run.catalogue("embedders", endpoint_options={"wait_scale": 0.001})
    ended = run.job("embed")
    assert ended.code == 0, ended.said
    assert ended.counters["encoded"] == 20
    assert {h["authorization"] for h in endpoint.headers} == {f"Bearer {key}"}
    assert key not in ended.said
    assert not [p for p in run.results.rglob("*") if p.is_file() and key.encode() in p.read_bytes()]


def test_a_null_instead_of_a_vector_is_refused_before_it_is_stored(case: Case, endpoint: Endpoint) -> None:
    run = case("10")
    for stage in ("generate", "transform"):
        assert run.job(stage).code == 0
    endpoint.rule = embedding_rule("null")
    ended = run.job("embed")
    assert ended.code == 1
    assert "the endpoint's answer is of no use: a vector is None" in ended.said
    assert "Traceback" not in ended.said
    endpoint.rule = embedding_rule("plain")
    assert run.job("embed").counters["encoded"] == 20
