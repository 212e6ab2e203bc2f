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
