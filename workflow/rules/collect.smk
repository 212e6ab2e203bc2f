rule collect:
    input:
        lambda wc: chosen().all_cells(paths.SCORE),
        lambda wc: chosen().datasets(paths.MANIFEST),
    output:
        scores=grid.run_path("scores.parquet"),
        item_values=grid.run_path("items.parquet"),
    log:
        grid.run_path("logs/collect.log"),
    params:
        decides=lambda wc: chosen().decides("collect", wc),
        config=lambda wc, output: chosen().resolved_config(),
    message:
        "collect all cells into scores.parquet and items.parquet"
    script:
        "../scripts/collect.py"
