rule embed:
    input:
        manifests=lambda wc: grid.datasets(paths.MANIFEST, wc),
        texts=lambda wc: grid.datasets(paths.TEXTS, wc),
        inputs=lambda wc: grid.datasets(paths.INPUTS, wc),
        transforms=grid.transforms_for,
    output:
        grid.cells(paths.EMBEDDING),
        stats=grid.job("embed", grid.embed_axes),
    log:
        grid.job("embed", grid.embed_axes, "logs", "log"),
    threads: 2
    resources:
        **needs.of("embed"),
    params:
        decides=lambda wc, output: grid.decides("embed", wc),
        store=lambda wc, output: grid.path(paths.STORE),
        spec=lambda wc, output: grid.spec("embedders"),
    message:
        "embed {wildcards}"
    script:
        "../scripts/embed.py"


if grid.by_generator:

    # Until a selection has chosen, the generator is a wildcard; the original has none.
    use rule embed as embed_original with:
        output:
            grid.originals(paths.EMBEDDING),
            stats=grid.original_job("embed"),
        log:
            grid.original_job("embed", "logs", "log"),
