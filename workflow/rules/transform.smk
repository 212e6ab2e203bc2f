rule transform:
    input:
        manifests=lambda wc: grid.datasets(paths.MANIFEST, wc),
        texts=lambda wc: grid.datasets(paths.TEXTS, wc),
        completions=grid.transform_inputs,
    output:
        grid.rewrites(paths.TRANSFORM),
        stats=grid.job("transform", grid.generate_axes),
    log:
        grid.job("transform", grid.generate_axes, "logs", "log"),
    resources:
        **needs.of("transform"),
    params:
        decides=lambda wc, output: grid.decides("transform", wc),
        spec=lambda wc, output: grid.spec(
            "generators", "transformations", "prompts", "markers"
        ),
    message:
        "transform: check and flag the rewrites of {wildcards}"
    script:
        "../scripts/transform.py"
