rule generate:
    input:
        manifests=lambda wc: grid.datasets(paths.MANIFEST, wc),
        texts=lambda wc: grid.datasets(paths.TEXTS, wc),
    output:
        grid.rewrites(paths.COMPLETIONS),
        stats=grid.job("generate", grid.generate_axes),
    log:
        grid.job("generate", grid.generate_axes, "logs", "log"),
    threads: 2
    resources:
        **needs.of("generate"),
    params:
        decides=lambda wc, output: grid.decides("generate", wc),
        store=lambda wc, output: grid.path(paths.STORE),
        spec=lambda wc, output: grid.spec("generators", "transformations", "prompts"),
    message:
        "generate: ask the LLM for {wildcards}"
    script:
        "../scripts/generate.py"
