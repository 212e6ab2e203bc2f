rule analyse:
    input:
        scores=grid.run_path("scores.parquet"),
        transforms=lambda wc: chosen().all_rewrites(paths.TRANSFORM),
    output:
        [
            report(
                grid.run_path(f"tables/{table}.csv"),
                caption=f"../report/{grid.caption(table)}.rst",
                category=grid.category(table),
                labels={"table": table},
            )
            for table in grid.tables
        ],
        expand(
            grid.run_path("tables/{table}.{suffix}"),
            table=grid.tables,
            suffix=["md", "tex"],
        ),
    log:
        grid.run_path("logs/analyse.log"),
    params:
        decides=lambda wc: chosen().decides("analyse", wc),
        config=lambda wc, output: chosen().resolved_config(),
    message:
        "analyse the scores: tables as CSV, Markdown and LaTeX"
    script:
        "../scripts/analyse.py"
