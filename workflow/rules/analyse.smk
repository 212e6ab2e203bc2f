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
    resources:
        **needs.of("analyse"),
    params:
        decides=lambda wc: chosen().decides("analyse", wc),
        config=lambda wc, output: chosen().resolved_config(),
    message:
        "analyse the scores: tables as CSV, Markdown and LaTeX"
    script:
        "../scripts/analyse.py"


rule analyse_items:
    input:
        scores=grid.run_path("scores.parquet"),
        item_values=grid.run_path("items.parquet"),
        texts=grid.run_path("item_texts.parquet"),
        drift=grid.run_path("item_drift.parquet"),
    output:
        [
            report(
                grid.run_path(f"tables/{table}.csv"),
                caption=f"../report/{table}.rst",
                category=grid.category(table),
                labels={"table": table},
            )
            for table in grid.item_tables
        ],
        expand(
            grid.run_path("tables/{table}.{suffix}"),
            table=grid.item_tables,
            suffix=["md", "tex"],
        ),
    log:
        grid.run_path("logs/analyse_items.log"),
    resources:
        **needs.of("analyse"),
    params:
        decides=lambda wc: chosen().decides("analyse", wc),
        config=lambda wc, output: chosen().resolved_config(),
    message:
        "analyse the items: intervals within datasets, the worst items, what goes with their loss"
    script:
        "../scripts/analyse_items.py"


rule conclude:
    input:
        scores=grid.run_path("scores.parquet"),
        item_values=grid.run_path("items.parquet"),
        tables=expand(grid.run_path("tables/{table}.csv"), table=grid.analysed_tables),
    output:
        [
            report(
                grid.run_path(f"tables/{table}.csv"),
                caption=f"../report/{table}.rst",
                category=grid.category(table),
                labels={"table": table},
            )
            for table in grid.conclusions
        ],
        expand(
            grid.run_path("tables/{table}.{suffix}"),
            table=grid.conclusions,
            suffix=["md", "tex"],
        ),
        findings=report(
            grid.run_path("findings.md"),
            caption="../report/findings.rst",
            category="2. Scores",
            labels={"table": "findings"},
        ),
    log:
        grid.run_path("logs/conclude.log"),
    resources:
        **needs.of("analyse"),
    params:
        decides=lambda wc: chosen().decides("analyse", wc),
        config=lambda wc, output: chosen().resolved_config(),
    message:
        "conclude: findings and verdicts in words"
    script:
        "../scripts/conclude.py"
