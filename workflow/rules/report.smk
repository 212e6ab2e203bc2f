# The report itself (report.html) is written by Snakemake after the run, from what is marked here.
rule config:
    output:
        grid.run_path("config.yaml"),
    log:
        grid.run_path("logs/config.log"),
    params:
        resolved=grid.resolved_config(),
    message:
        "keep the run's resolved config"
    script:
        "../scripts/config.py"


rule summary:
    input:
        scores=grid.run_path("scores.parquet"),
        jobs=grid.all_jobs(),
    output:
        grid.run_path("summary.json"),
        report(
            grid.run_path("summary.csv"),
            caption="../report/summary.rst",
            category="4. What it took",
            labels={"table": "summary"},
        ),
        grid.run_path("summary.md"),
    log:
        grid.run_path("logs/summary.log"),
    params:
        decides=lambda wc: grid.decides("report", wc),
        config=lambda wc, output: grid.resolved_config(),
    message:
        "sum up what the run took"
    script:
        "../scripts/summary.py"
