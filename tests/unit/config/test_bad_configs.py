"""Wrong configs and catalogue entries: each is refused alone, with its own message."""

import pytest
from config_cases import Case, Setup, refused

CASES = [
    # names
    Case("unknown dataset", lambda s: s.run.update(datasets=["pears"]),
         "no dataset is called 'pears'", "run config, key 'datasets'", do="did you mean 'pairs'"),
    Case("unknown embedder", lambda s: s.run.update(embedders=["minilm-l7"]),
         "no embedder is called 'minilm-l7'", do="did you mean 'minilm-l6'"),
    Case("unknown generator", lambda s: s.run.update(generator="smollm2-135"),
         "no generator is called", do="did you mean 'smollm2-135m'"),
    Case("unknown transformation", lambda s: s.run.update(transformations=["paraphrase"]),
         "no transformation is called 'paraphrase'", do="did you mean 'paraphrasing'"),
    Case("dataset twice", lambda s: s.run.update(datasets=["pairs", "pairs"]),
         "'pairs' stands twice", "key 'datasets'", do="remove one"),
    Case("seed twice", lambda s: s.run.update(seeds=[7, 8, 7]), "7 stands twice", "key 'seeds'"),
    Case("job axis twice", lambda s: s.run.update(job_axes=["dataset", "dataset"]),
         "'dataset' stands twice", "key 'job_axes'"),
    # keys and types
    Case("unknown key", lambda s: s.run.update(seedz=[1]),
         "unknown key 'seedz'", allowed="run, description, results", do="did you mean 'seeds'"),
    Case("missing key", lambda s: s.run.pop("seeds"), "the key 'seeds' is missing or empty", do="add `seeds"),
    Case("empty list", lambda s: s.run.update(datasets=[]), "'datasets' is missing or empty",
         "key 'datasets'"),
    Case("text for a number", lambda s: s.run.update(seeds=["one"]), "valid integer, got 'one'", "seeds.0"),
    Case("yes for a number", lambda s: s.run.update(seeds=[True]), "valid integer, got True", "seeds.0"),
    Case("negative seed", lambda s: s.run.update(seeds=[-1]), "greater than or equal to 0, got -1"),
    Case("unknown job axis", lambda s: s.run.update(job_axes=["embeder"]),
         "Input should be 'embedder'", "job_axes.0", "embedder.*dataset.*variant", "did you mean 'embedder'"),
    Case("share above one", lambda s: s.run.update(fallback_mark=2), "less than or equal to 1"),
    Case("run name with a slash", lambda s: s.run.update(run="a/b"), "match pattern", "key 'run'"),
    Case("no colour", lambda s: s.run.update(colours={"pairs": "red"}), "match pattern", "colours.pairs"),
    Case("label of nothing", lambda s: s.run.update(labels={"pears": "Pears"}),
         "'pears' is not part of this run", "key 'labels'", do="did you mean 'pairs'"),
    Case("unknown key in an entry", lambda s: s.entry("generators", "llm").update(limits={"max": 3}),
         "unknown key 'max'", "generators, id 'llm', key 'limits.max'", "factor, minimum, maximum"),
    Case("wrong value in an entry", lambda s: s.entry("embedders", "words").update(backend="tfidf"),
         "got 'tfidf'", "key 'backend'", "tfidf-svd", "did you mean"),
    Case("unknown kind", lambda s: s.entries.update(embeders=[]),
         "unknown kind 'embeders'", allowed="datasets, embedders", do="did you mean 'embedders'"),
    Case("entries are no list", lambda s: s.entries.update(prompts={"id": "x"}), "must be a list of entries"),
    Case("id twice", lambda s: s.entries["prompts"].append(dict(s.entries["prompts"][0])),
         "the id 'to' is defined twice", "mine.yaml", do="another id"),
    Case("id that the catalogue has", lambda s: s.entry("embedders", "words").update(id="minilm-l6"),
         "'minilm-l6' is defined twice", "small.yaml"),
    Case("missing catalogue", lambda s: s.run.update(catalogue=["no/such.yaml"]),
         "no such catalogue file or folder", "no/such.yaml"),
    # the results folder
    Case("results in a file", lambda s: s.run.update(results=str(s.folder / "pairs.csv" / "x")),
         "pairs.csv is not a folder", "key 'results'", do="another folder"),
    Case("results unwritable", lambda s: s.run.update(results="/proc/results"),
         "/proc cannot be written", "key 'results'"),
    # secrets
    Case("key in the run", lambda s: s.run.update(description="use sk-abcdefghijklmnop1234"),
         "a secret", "run config, key 'description'", "api_key_env", "revoke"),
    Case("key in an entry", lambda s: s.entry("generators", "llm").update(
        api_key_env="hf_abcdefghijklmnopqrstuv"), "a secret", "mine.yaml, key 'generators.0.api_key_env'"),
    Case("no name of a variable", lambda s: s.entry("generators", "llm").update(api_key_env="my key!"),
         "a secret", "api_key_env"),
    Case("password in an address", lambda s: s.entry("generators", "llm").update(
        base_url="https://me:pass@host.example/v1"), "a secret", "generators.0.base_url"),
    Case("key by its name", lambda s: s.entry("generators", "llm").update(engine_options={"api_key": "abc"}),
         "a secret", "key 'generators.0.engine_options.api_key'"),
    # datasets
    Case("neither task nor files", lambda s: s.entry("datasets", "pairs").pop("files"),
         "needs either `task` or `files`", "mine.yaml, dataset 'pairs'"),
    Case("task and files", lambda s: s.entry("datasets", "hub").update(files={"test": "pairs.csv"}),
         "both `task` and `files`"),
    Case("a sample of no corpus", lambda s: s.entry("datasets", "pairs").update(corpus_sample=10),
         "STS has no corpus", "key 'corpus_sample'"),
    Case("no revision", lambda s: s.entry("datasets", "hub").pop("revision"),
         "'STSBenchmark' has no revision"),
    Case("columns of a task", lambda s: s.entry("datasets", "hub").update(columns={"text": "x"}),
         "'columns' has no effect on a task"),
    Case("format of a task", lambda s: s.entry("datasets", "hub").update(format="lee"),
         "'format' has no effect on a task"),
    Case("subset without languages", lambda s: s.entry("datasets", "hub").update(subsets=["default", "de"]),
         "the subset 'de' has no language", "key 'languages'"),
    Case("languages of no subset", lambda s: s.entry("datasets", "hub").update(
        languages={"default": ["eng-Latn"], "defualt": ["eng-Latn"]}), "'defualt' is no subset",
         do="'default'"),
    Case("subset twice", lambda s: s.entry("datasets", "hub").update(subsets=["default", "default"]),
         "a subset stands twice"),
    Case("no language", lambda s: s.entry("datasets", "pairs").update(languages={"default": ["english"]}),
         "'english' is not a language", allowed="eng-Latn"),
    Case("language of a field", lambda s: s.entry("datasets", "pairs").update(
        field_languages={"default": {"sentence2": "deu-Latn"}}), "'deu-Latn' of a field is not among"),
    Case("unknown score", lambda s: s.entry("datasets", "pairs").update(main_score="ndcg_at_10"),
         "STS has no score 'ndcg_at_10'", do="cosine_spearman"),
    Case("scale upside down", lambda s: s.entry("datasets", "pairs").update(min_score=5, max_score=0),
         "min_score 5 is not below max_score 0"),
    Case("missing table", lambda s: s.entry("datasets", "classes").update(files={"test": "test.jsonl"}),
         "the file of table 'train' is not given", allowed="train, test"),
    Case("unknown table", lambda s: s.entry("datasets", "search")["files"].update(qrel="qrels.csv"),
         "unknown table 'qrel'", do="'qrels'"),
    Case("unknown standard column", lambda s: s.entry("datasets", "pairs").update(columns={"scores": "x"}),
         "'scores' is not a standard column of STS", do="'score'"),
    Case("subsets of local files", lambda s: s.entry("datasets", "pairs").update(splits=["train"]),
         "local files have one subset"),
    Case("format of another type", lambda s: s.entry("datasets", "matrix").update(
        task_type="Clustering", main_score="v_measure"), "'lee' does not hold a Clustering", allowed="STS"),
    Case("unknown encoding", lambda s: s.entry("datasets", "pairs").update(encoding="utf-88"),
         "no encoding is called 'utf-88'"),
    Case("package not installed", lambda s: s.entry("datasets", "pairs").update(
        files={"test": "package:no_such_package/x.csv"}), "'no_such_package' is not installed", "files.test"),
    # transformations
    Case("unknown prompt", lambda s: s.entry("transformations", "again")["steps"][0].update(prompt="plane"),
         "no prompt is called 'plane'", "transformation 'again', step 1", do="'plain'"),
    Case("prompt without language", lambda s: s.entry("transformations", "say")["steps"][0].update(
        prompt="plain"), "'plain' does not say {target_language}", "step 1"),
    Case("way back without language", lambda s: s.entry("transformations", "back")["steps"][1].update(
        prompt="plain"), "'plain' does not say {target_language}", "step 2"),
    Case("unknown placeholder", lambda s: (s.entry("transformations", "again"),
        s.entries["prompts"][1].update(template="Say it in {target_langage}.")),
        "unknown placeholder {target_langage}", do="'target_language'"),
    Case("empty prompt", lambda s: (s.entry("transformations", "again"),
        s.entries["prompts"][1].update(template=" ")), "the prompt 'plain' is empty"),
    Case("steps that do not fit", lambda s: s.entry("transformations", "back")["steps"][1].update(
        language="intermediate"), "languages (intermediate, intermediate) do not fit",
         allowed="intermediate, source"),
    Case("nothing is drawn", lambda s: s.entry("transformations", "say").update(
        draw="none", pool=[], exclude="none"), "a step needs a drawn language"),
    Case("drawn for nothing", lambda s: s.entry("transformations", "again").update(
        draw="text", pool=["deu-Latn"]), "no step uses a drawn language"),
    Case("pool for nothing", lambda s: s.entry("transformations", "again").update(pool=["deu-Latn"]),
         "`pool` and `exclude` have no effect without `draw`"),
    Case("empty pool", lambda s: s.entry("transformations", "say").update(pool=[]),
         "the language pool is empty"),
    Case("no language in the pool", lambda s: s.entry("transformations", "say").update(pool=["deutsch"]),
         "'deutsch' is not a language", "key 'pool'"),
    Case("pool with a language twice", lambda s: s.entry("transformations", "say").update(
        pool=["deu-Latn", "deu-Latn"]), "stands twice in the pool"),
    Case("nothing left to draw", lambda s: s.entry("transformations", "say").update(pool=["en", "eng-Latn"]),
         "the language pool leaves nothing to draw", "'say' on dataset 'pairs'",
         "the pool is en, eng-Latn; the dataset's languages are eng-Latn", "larger pool"),
    Case("queries of a clustering", lambda s: (s.entry("datasets", "groups"),
        s.entry("transformations", "again").update(fields="queries")),
        "`fields: queries` selects nothing", "on dataset 'groups'", "fields: all"),
    # generators
    Case("endpoint without address", lambda s: s.entry("generators", "llm").pop("base_url"),
         "an endpoint needs an address"),
    Case("no address", lambda s: s.entry("generators", "llm").update(base_url="localhost:8000"),
         "'localhost:8000' is no address", allowed="http://HOST:PORT/v1"),
    Case("address without endpoint", lambda s: s.entry("generators", "local").update(base_url="http://x/v1"),
         "'base_url' has no effect on 'transformers'"),
    Case("cap without prices", lambda s: s.entry("generators", "llm").update(spending_cap=1.0),
         "`spending_cap` needs prices"),
    Case("one price", lambda s: s.entry("generators", "llm").update(price_in=1.0), "one of `price_in` and"),
    Case("price of a local model", lambda s: s.entry("generators",
         "local").update(price_in=1.0, price_out=1.0),
         "prices have no effect on engine 'transformers'"),
    Case("limits upside down", lambda s: s.entry("generators", "llm").update(
        limits={"minimum": 99, "maximum": 9}), "minimum 99 is above maximum 9"),
    Case("no room for a prompt", lambda s: s.entry("generators", "llm").update(context=512),
         "leaves no room for a prompt in a context of 512"),
    Case("quantisation without effect", lambda s: s.entry("generators", "local").update(quantization="awq"),
         "'quantization' has no effect on engine 'transformers'", allowed="vllm"),
    Case("no GGUF file", lambda s: s.entry("generators", "local").update(gguf_file="other.gguf"),
         "no file 'other.gguf'", allowed="SmolLM2-135M-Instruct.Q4_1.gguf"),
    Case("no model folder", lambda s: s.entry("generators",
         "local").update(model="./nowhere", gguf_file=None),
         "no such model folder", "nowhere"),
    Case("model's package missing", lambda s: s.entry("generators", "local").update(
        model="package:no_such_package"), "'no_such_package' is not installed", "key 'model'"),
    # embedders
    Case("BM25 on pairs", lambda s: s.entry("embedders", "okapi"), "BM25 cannot do STS",
         "embedder 'okapi' on dataset 'pairs'", "Reranking, Retrieval"),
    Case("code that is not pinned", lambda s: s.entry("embedders", "mine").update(
        revision=None, trust_remote_code=True), "may run its own code, but no revision is pinned"),
    Case("instruction without effect", lambda s: s.entry("embedders", "words").update(
        instructions={"query": "q: "}), "'instructions' has no effect on backend 'tf'"),
    Case("pooling without effect", lambda s: s.entry("embedders", "server").update(pooling="mean"),
         "'pooling' has no effect on backend 'openai'"),
    Case("length without effect", lambda s: s.entry("embedders", "words").update(max_length=9),
         "'max_length' has no effect on backend 'tf'", allowed="mteb, sentence-transformers"),
    Case("unknown pooling", lambda s: s.entry("embedders", "mine").update(pooling="average"),
         "unknown pooling 'average'", allowed="cls, lasttoken, max, mean"),
    Case("BM25 by angle", lambda s: (s.entry("datasets", "search"),
        s.entry("embedders", "okapi").update(similarity="cosine")), "the score of BM25 is a dot product"),
    Case("unknown role", lambda s: s.entry("embedders", "mine").update(instructions={"STS:querry": "q: "}),
         "'STS:querry' names an unknown role", allowed="query, document"),
    Case("no language of an embedder", lambda s: s.entry("embedders", "mine").update(languages=["english"]),
         "'english' is not a language", "embedder 'mine'"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name.replace(" ", "-"))
def test_a_mistake_is_refused_alone_and_explained(case, tmp_path):
    refused(case, tmp_path)


def test_the_run_that_the_cases_spoil_is_right(tmp_path):
    setup = Setup(tmp_path)
    every = [e["id"] for e in setup.entries["datasets"]]
    setup.run.update(datasets=every, transformations=["say", "back", "again"], generator=["llm", "local"])
    setup.run.update(embedders=["mine", "server", "words"])
    plan = setup.load()
    assert plan.config.datasets == every
    assert len(plan.variants) == 1 + 2 * 3


def test_all_problems_are_told_in_one_go(tmp_path):
    setup = Setup(tmp_path)
    setup.run.update(datasets=["pears"], embedders=["minilm-l7"], results="/proc/results")
    assert len(setup.problems()) == 3


def test_a_secret_is_never_repeated(tmp_path):
    setup = Setup(tmp_path)
    secret = "sk-" + "a1b2c3d4" * 4
    setup.entry("generators", "llm").update(model=secret)
    setup.run.update(api_key=secret)
    messages = [p.message() for p in setup.problems() if "secret" in p.what]
    assert messages
    assert not any(secret in m for m in messages)


def test_one_subset_that_is_left_is_enough(tmp_path):
    setup = Setup(tmp_path)
    entry = setup.entry("datasets", "hub")
    entry.update(subsets=["de", "es"], languages={"de": ["deu-Latn"], "es": ["spa-Latn"]})
    setup.entry("transformations", "say").update(pool=["deu-Latn"])
    assert setup.problems() == []


def test_an_endpoint_far_away_without_its_key_is_a_warning(tmp_path, caplog, monkeypatch):
    monkeypatch.delenv("MY_TEST_KEY", raising=False)
    setup = Setup(tmp_path)
    setup.entry("generators", "llm").update(base_url="https://llm.example.com/v1", api_key_env="MY_TEST_KEY")
    setup.load()
    assert "set the environment variable MY_TEST_KEY" in caplog.text
    caplog.clear()
    monkeypatch.setenv("MY_TEST_KEY", "x")
    setup.load()
    assert "MY_TEST_KEY" not in caplog.text
