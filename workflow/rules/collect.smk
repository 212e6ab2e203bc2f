rule collect:
    input:
        lambda wc: chosen().all_cells(paths.SCORE),
        lambda wc: chosen().datasets(paths.MANIFEST),
    output:
        scores=grid.run_path("scores.parquet"),
        item_values=grid.run_path("items.parquet"),
    log:
        grid.run_path("logs/collect.log"),
    resources:
        **needs.of("collect"),
    params:
        decides=lambda wc: chosen().decides("collect", wc),
        config=lambda wc, output: chosen().resolved_config(),
    message:
        "collect all cells into scores.parquet and items.parquet"
    script:
        "../scripts/collect.py"


rule collect_texts:
    input:
        lambda wc: chosen().all_rewrites(paths.TRANSFORM),
        lambda wc: chosen().all_cells(paths.EMBEDDING),
        lambda wc: chosen().datasets(paths.MANIFEST),
        lambda wc: chosen().datasets(paths.TEXTS),
        lambda wc: chosen().datasets(paths.INPUTS),
    output:
        texts=grid.run_path("item_texts.parquet"),
        drift=grid.run_path("item_drift.parquet"),
    log:
        grid.run_path("logs/collect_texts.log"),
    resources:
        **needs.of("collect"),
    params:
        decides=lambda wc: chosen().decides("collect", wc),
        store=lambda wc, output: grid.path(paths.STORE),
        config=lambda wc, output: chosen().resolved_config(),
    message:
        "collect the texts behind items, and how far they moved under each embedder"
    script:
        "../scripts/collect_texts.py"
