rule analyse:
    input:
        scores=run_folder.path("scores.parquet"),
        transforms=lambda wc: chosen().all_rewrites(paths.TRANSFORM),
    output:
        [
            report(
                run_folder.path(f"tables/{table}.csv"),
                caption=f"../report/{run_folder.caption(table)}.rst",
                category=run_folder.category(table),
                labels={"table": table},
            )
            for table in run_folder.tables
        ],
        expand(
            run_folder.path("tables/{table}.{suffix}"),
            table=run_folder.tables,
            suffix=["md", "tex"],
        ),
    log:
        run_folder.path("logs/analyse.log"),
    resources:
        **needs.of("analyse"),
    params:
        decides=lambda wc, output: chosen().decides("analyse", wc),
        plan=lambda wc, output: chosen().plan_text(),
    message:
        "analyse the scores: tables as CSV, Markdown and LaTeX"
    script:
        "../scripts/analyse.py"


rule analyse_items:
    input:
        scores=run_folder.path("scores.parquet"),
        item_values=run_folder.path("items.parquet"),
        texts=run_folder.path("item_texts.parquet"),
        drift=run_folder.path("item_drift.parquet"),
    output:
        [
            report(
                run_folder.path(f"tables/{table}.csv"),
                caption=f"../report/{table}.rst",
                category=run_folder.category(table),
                labels={"table": table},
            )
            for table in run_folder.item_tables
        ],
        expand(
            run_folder.path("tables/{table}.{suffix}"),
            table=run_folder.item_tables,
            suffix=["md", "tex"],
        ),
    log:
        run_folder.path("logs/analyse_items.log"),
    resources:
        **needs.of("analyse"),
    params:
        decides=lambda wc, output: chosen().decides("analyse", wc),
        plan=lambda wc, output: chosen().plan_text(),
    message:
        "analyse the items: intervals within datasets, the worst items, what goes with their loss"
    script:
        "../scripts/analyse_items.py"


rule conclude:
    input:
        scores=run_folder.path("scores.parquet"),
        item_values=run_folder.path("items.parquet"),
        tables=expand(
            run_folder.path("tables/{table}.csv"), table=run_folder.analysed_tables
        ),
    output:
        [
            report(
                run_folder.path(f"tables/{table}.csv"),
                caption=f"../report/{table}.rst",
                category=run_folder.category(table),
                labels={"table": table},
            )
            for table in run_folder.conclusions
        ],
        expand(
            run_folder.path("tables/{table}.{suffix}"),
            table=run_folder.conclusions,
            suffix=["md", "tex"],
        ),
        findings=report(
            run_folder.path("findings.md"),
            caption="../report/findings.rst",
            category="2. Scores",
            labels={"table": "findings"},
        ),
    log:
        run_folder.path("logs/conclude.log"),
    resources:
        **needs.of("analyse"),
    params:
        decides=lambda wc, output: chosen().decides("analyse", wc),
        plan=lambda wc, output: chosen().plan_text(),
    message:
        "conclude: findings and verdicts in words"
    script:
        "../scripts/conclude.py"
