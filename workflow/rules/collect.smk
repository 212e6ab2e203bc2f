rule collect:
    input:
        lambda wc: chosen().all_cells(paths.SCORE),
        lambda wc: chosen().all_rewrites(paths.TRANSFORM),
        lambda wc: chosen().datasets(paths.MANIFEST),
    output:
        scores=run_folder.path("scores.parquet"),
        item_values=run_folder.path("items.parquet"),
    log:
        run_folder.path("logs/collect.log"),
    resources:
        **needs.of("collect"),
    params:
        decides=lambda wc, output: chosen().decides("collect", wc),
        plan=lambda wc, output: chosen().plan_text(),
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
        texts=run_folder.path("item_texts.parquet"),
        drift=run_folder.path("item_drift.parquet"),
    log:
        run_folder.path("logs/collect_texts.log"),
    resources:
        **needs.of("collect"),
    params:
        decides=lambda wc, output: chosen().decides("collect", wc),
        store=lambda wc, output: grid.path(paths.STORE),
        plan=lambda wc, output: chosen().plan_text(),
    message:
        "collect the texts behind items, and how far they moved under each embedder"
    script:
        "../scripts/collect_texts.py"
