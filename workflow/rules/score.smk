rule score:
    input:
        manifests=lambda wc: grid.datasets(paths.MANIFEST, wc),
        texts=lambda wc: grid.datasets(paths.TEXTS, wc),
        transforms=grid.transforms_for,
        embeddings=grid.embeddings_for,
    output:
        grid.cells(paths.SCORE),
        stats=grid.job("score", grid.embed_axes),
    log:
        grid.job("score", grid.embed_axes, "logs", "log"),
    resources:
        **needs.of("score"),
    params:
        decides=lambda wc, output: grid.decides("score", wc),
        store=lambda wc, output: grid.path(paths.STORE),
        spec=lambda wc, output: grid.spec("embedders"),
        stale=lambda wc, input, output: cells_to_compute(grid, output[:-1]),
    message:
        "score {wildcards}; cells to compute: {params.stale}"
    script:
        "../scripts/score.py"


if grid.by_generator:

    # Until a selection has chosen, the generator is a wildcard; the original has none.
    use rule score as score_original with:
        output:
            grid.originals(paths.SCORE),
            stats=grid.original_job("score"),
        log:
            grid.original_job("score", "logs", "log"),
