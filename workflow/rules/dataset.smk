rule dataset:
    input:
        unpack(lambda wc: grid.dataset_inputs(wc)),
    output:
        manifest=grid.path(paths.MANIFEST),
        data=directory(grid.path(paths.DATA_FOLDER)),
        stats=grid.job("dataset", ["dataset"]),
    log:
        grid.job("dataset", ["dataset"], "logs", "log"),
    resources:
        **needs.of("dataset"),
    params:
        decides=lambda wc, output: grid.decides("dataset", wc),
        spec=lambda wc, output: grid.spec("datasets", "generators"),
    message:
        "freeze dataset {wildcards.dataset}"
    script:
        "../scripts/dataset.py"


rule texts:
    input:
        manifest=grid.path(paths.MANIFEST),
        data=grid.path(paths.DATA_FOLDER),
    output:
        texts=grid.path(paths.TEXTS),
        inputs=grid.path(paths.INPUTS),
        stats=grid.job("texts", ["dataset"]),
    log:
        grid.job("texts", ["dataset"], "logs", "log"),
    resources:
        **needs.of("texts"),
    params:
        decides=lambda wc, output: grid.decides("texts", wc),
    message:
        "list the texts of {wildcards.dataset} that will be embedded"
    script:
        "../scripts/texts.py"
