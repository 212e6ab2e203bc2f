# The report itself (report.html) is written by Snakemake after the run, from what is marked here.
rule config:
    output:
        run_folder.path("config.yaml"),
    log:
        run_folder.path("logs/config.log"),
    localrule: True
    params:
        decides=lambda wc, output: grid.decides("config", wc),
        resolved=lambda wc, output: grid.resolved_config(),
    message:
        "keep the run's resolved config"
    script:
        "../scripts/config.py"


rule summary:
    input:
        scores=run_folder.path("scores.parquet"),
        jobs=lambda wc: [*chosen().all_jobs(), *translations.jobs()],
        selection=selection.winner_files,
    output:
        run_folder.path("summary.json"),
        report(
            run_folder.path("summary.csv"),
            caption="../report/summary.rst",
            category="5. What it took",
            labels={"table": "summary"},
        ),
        run_folder.path("summary.md"),
    log:
        run_folder.path("logs/summary.log"),
    resources:
        **needs.of("report"),
    params:
        decides=lambda wc, output: chosen().decides_summary(),
        plan=lambda wc, output: chosen().plan_text(),
    message:
        "sum up what the run took"
    script:
        "../scripts/summary.py"


rule page:
    input:
        run_folder.page_inputs,
    output:
        run_folder.path("robustness.html"),
    log:
        run_folder.path("logs/page.log"),
    resources:
        **needs.of("report"),
    params:
        decides=lambda wc, output: chosen().decides("page", wc),
        plan=lambda wc, output: chosen().plan_text(),
    message:
        "write the interactive page"
    script:
        "../scripts/page.py"


# Not part of the run: what a look at an unfinished or broken grid needs. Missing cells are rows.
rule partial:
    log:
        run_folder.path("logs/partial.log"),
    params:
        plan=lambda wc, output: grid.plan_text(),
        folder=run_folder.path("partial"),
    message:
        "collect, analyse and draw the cells that are there"
    script:
        "../scripts/partial.py"


rule prefetch:
    log:
        run_folder.path("logs/prefetch.log"),
    params:
        plan=lambda wc, output: grid.plan_text(),
    message:
        "bring datasets, tokenizers and weights, so that the run needs no network"
    script:
        "../scripts/prefetch.py"


# Neither is this: it counts and estimates, on the machine where Snakemake was called.
rule plan:
    log:
        run_folder.path("logs/plan.log"),
    localrule: True
    params:
        plan=lambda wc, output: grid.plan_text(),
        folder=run_folder.path("plan"),
    message:
        "say what the run will take and what of it is done"
    script:
        "../scripts/plan.py"
