import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from fabricate import make_plan, write_transforms

from stressbed import paths
from stressbed.cli import main
from stressbed.errors import DataError
from stressbed.fingerprint import digest
from stressbed.generate.completions import CompletionStore
from stressbed.generate.engines.fake import FakeEngine
from stressbed.generate.request import Completion
from stressbed.generate.run import generate
from stressbed.report.export_rewrites import export_rewrites, import_rewrites

COLUMNS = ["key", "text", "finish", "tokens_in", "tokens_out"]


def answer(i, generator="llm"):
    return {
        "key": digest([generator, i]),
        "text": f"answer {i} of {generator}\n“ü”",
        "finish": "stop",
        "tokens_in": i,
        "tokens_out": 2 * i,
    }


@pytest.fixture
def plan(tmp_path):
    """Two generators; their variants share answers as first steps do."""
    plan = make_plan(
        tmp_path / "here",
        transformations=("expansion", "summarised_expansion"),
        seeds=(1,),
        generators=("llm", "big"),
    )
    for dataset in plan.config.datasets:
        for variant in plan.rewrites:
            write_transforms(plan, dataset, variant, [{}, {}])
            rows = [answer(i, variant.generator) for i in (1, 2, len(variant.transformation))]
            path = plan.results / paths.COMPLETIONS.format(dataset=dataset, variant=str(variant))
            path.parent.mkdir(parents=True, exist_ok=True)
            extra = {"text_id": 0, "step": 1, "attempt": 0, "prompt_id": "p", "language": "eng-Latn"}
            pq.write_table(pa.Table.from_pylist([extra | r for r in rows]), path)
    return plan


def test_another_machine_finds_every_answer(plan, tmp_path):
    stats = export_rewrites(plan=plan, out=tmp_path / "out")
    assert (stats.files, stats.missing) == (16, 0)
    got = import_rewrites(folder=tmp_path / "out", results=tmp_path / "there")
    assert (got.completions, got.new) == (8, 8)
    for g in ("llm", "big"):
        store = CompletionStore(tmp_path / "there" / ".store" / "completions" / plan.generator_identity(g))
        wanted = {r["key"]: Completion(**r) for r in (answer(i, g) for i in (1, 2, 9, 20))}
        assert store.get_many(wanted) == wanted
        assert not store.get_many([answer(1, "nobody")["key"]])


def test_importing_twice_adds_nothing(plan, tmp_path):
    export_rewrites(plan=plan, out=tmp_path / "out")
    import_rewrites(folder=tmp_path / "out", results=tmp_path / "there")
    before = sorted((tmp_path / "there").rglob("*"))
    assert import_rewrites(folder=tmp_path / "out", results=tmp_path / "there").new == 0
    assert [p for p in sorted((tmp_path / "there").rglob("*")) if "index" not in str(p)] == before


def test_token_counts_travel_too(plan, tmp_path):
    from stressbed.generate.tokens import TokenCounts

    identity = plan.generator_identity("llm")
    TokenCounts(plan.results / ".store" / "tokens" / identity, lambda texts: [len(t) for t in texts])(
        ["one", "three"]
    )
    export_rewrites(plan=plan, out=tmp_path / "out")
    import_rewrites(folder=tmp_path / "out", results=tmp_path / "there")

    def refuse(texts):
        raise AssertionError(texts)

    assert TokenCounts(tmp_path / "there" / ".store" / "tokens" / identity, refuse)(["three", "one"]) == [
        5,
        3,
    ]


def test_the_manifest_says_what_is_inside(plan, tmp_path):
    out = tmp_path / "out"
    export_rewrites(plan=plan, out=out)
    manifest = json.loads((out / "manifest.json").read_text())
    assert set(manifest["files"]) == {str(p.relative_to(out)) for p in out.rglob("*.parquet")}
    assert manifest["generators"]["llm"]["identity"] == plan.generator_identity("llm")
    assert manifest["datasets"]["pairs"]["licence"] == "unknown"
    assert str(tmp_path) not in (out / "manifest.json").read_text()


def made_texts():
    words = ("the cat sat on a mat", "rain fell all day", "prices rose again in May")
    rows = [
        {
            "text_id": i, "subset": "default", "split": "test", "field": "text", "row": str(i),
            "position": 0, "side": "query", "language": "eng-Latn", "text": t,
        }
        for i, t in enumerate(words)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def generate_into(plan, results, open_engine):
    manifest = {
        "dataset": "pairs", "content_hash": "h", "subsets": ["default"], "splits": ["test"],
        "languages": {"default": ["eng-Latn"]}, "field_languages": {},
    }  # fmt: skip
    outputs = {v: results / paths.COMPLETIONS.format(dataset="pairs", variant=str(v)) for v in plan.rewrites}
    stats = generate(
        dataset="pairs",
        manifest=manifest,
        texts=made_texts(),
        generator=plan.catalogue.generators["llm"],
        generator_identity=plan.generator_identity("llm"),
        transformations=list(plan.catalogue.transformations.values()),
        prompts=plan.catalogue.prompts,
        seeds=plan.config.seeds,
        store_root=results / ".store",
        outputs=outputs,
        open_engine=open_engine,
    )
    return stats, {v: path.read_bytes() for v, path in outputs.items()}


def test_a_run_after_an_import_asks_nothing_and_writes_the_same(tmp_path):
    plan = make_plan(
        tmp_path / "here", datasets={"pairs": {}}, transformations=("expansion", "paraphrasing"), seeds=(1, 2)
    )
    first, here = generate_into(plan, plan.results, lambda: FakeEngine(plan.catalogue.generators["llm"]))
    assert first.sent > 0
    export_rewrites(plan=plan, out=tmp_path / "out")
    import_rewrites(folder=tmp_path / "out", results=tmp_path / "there")

    def refuse():
        raise AssertionError("an engine was opened")

    second, there = generate_into(plan, tmp_path / "there", refuse)
    assert (second.sent, second.retried, second.reused) == (0, 0, first.unique + first.retried)
    assert there == here


def damage(folder, how):
    file = next(folder.rglob("completions/**/*.parquet"))
    if how == "changed":
        file.write_bytes(file.read_bytes() + b"x")
    elif how == "missing":
        file.unlink()
    elif how == "no manifest":
        (folder / "manifest.json").unlink()
    else:
        manifest = json.loads((folder / "manifest.json").read_text())
        if how == "format":
            manifest["format"] = "other"
        else:
            manifest["files"]["../outside"] = {"digest": "0", "bytes": 0}
        (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("changed", "was changed"),
        ("missing", "is missing"),
        ("no manifest", "not an export"),
        ("format", "unknown format"),
        ("outside", "outside the export"),
    ],
)
def test_a_damaged_export_is_refused_whole(plan, tmp_path, how, words):
    export_rewrites(plan=plan, out=tmp_path / "out")
    damage(tmp_path / "out", how)
    with pytest.raises(DataError, match=words):
        import_rewrites(folder=tmp_path / "out", results=tmp_path / "there")
    assert not (tmp_path / "there").exists()


def test_what_is_not_there_is_counted_and_an_empty_run_refused(plan, tmp_path):
    next((plan.results / "completions").rglob("*.parquet")).unlink()
    assert export_rewrites(plan=plan, out=tmp_path / "out").missing == 1
    with pytest.raises(DataError, match="not empty"):
        export_rewrites(plan=plan, out=tmp_path / "out")
    empty = make_plan(tmp_path / "empty")
    with pytest.raises(DataError, match="no rewritten texts yet"):
        export_rewrites(plan=empty, out=tmp_path / "other")


def test_the_command_line_imports_and_shows_errors(plan, tmp_path, capsys):
    export_rewrites(plan=plan, out=tmp_path / "out")
    assert main(["import-rewrites", str(tmp_path / "out"), "--results", str(tmp_path / "there")]) == 0
    assert "imported" in capsys.readouterr().out
    assert main(["import-rewrites", str(tmp_path), "--results", str(tmp_path / "there")]) == 1
    assert "not an export" in capsys.readouterr().err
    config = tmp_path / "bad.yaml"
    config.write_text(yaml.safe_dump({"run": "x"}))
    assert main(["export-scores", str(config), "--out", str(tmp_path / "o")]) == 1
    assert "embedders" in capsys.readouterr().err
