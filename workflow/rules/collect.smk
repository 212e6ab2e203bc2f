rule collect:
    input:
        grid.all_cells(paths.SCORE),
    output:
        scores=grid.run_path("scores.parquet"),
        item_values=grid.run_path("items.parquet"),
    log:
        grid.run_path("logs/collect.log"),
    params:
        decides=lambda wc: grid.decides("collect", wc),
        config=lambda wc, output: grid.resolved_config(),
    message:
        "collect all cells into scores.parquet and items.parquet"
    script:
        "../scripts/collect.py"
