# People rate rewrites: sheets go out; once the config names filled ones, they are read and analysed.
rule human_sheets:
    input:
        transforms=lambda wc: HumanGrid(chosen().plan).transforms(),
        further=lambda wc: HumanGrid(chosen().plan).further_transforms(),
        manifests=people.manifests(),
    output:
        people.sheet_files,
        sheets=directory(people.path("sheets")),
    log:
        people.path("logs/sheets.log"),
    resources:
        **needs.of("collect"),
    params:
        decides=lambda wc, output: people.decides_sheets(),
        plan=lambda wc, output: chosen().plan_text(),
    message:
        "draw rewrites for human raters and write the sheets"
    script:
        "../scripts/human_sheets.py"


rule human_drift:
    input:
        drawn=people.sheet_files[0],
        manifests=people.manifests(),
    output:
        people.path("drift.parquet"),
    log:
        people.path("logs/drift.log"),
    threads: 2
    resources:
        **needs.of("embed"),
    params:
        decides=lambda wc, output: people.decides_drift(),
        embedder=lambda wc, output: people.drift_embedder,
        store=lambda wc, output: grid.path(paths.STORE),
        plan=lambda wc, output: grid.plan_text(),
    message:
        "measure how far the rated rewrites are from their originals"
    script:
        "../scripts/human_drift.py"


rule human_ratings:
    input:
        drawn=people.sheet_files[0],
        drift=people.path("drift.parquet"),
        ratings=list(map(str, grid.plan.rating_files())),
    output:
        summary=people.path("summary.json"),
        ratings=people.path("ratings.parquet"),
        tables=[
            report(t, caption="../report/human.rst", category="6. Human ratings")
            for t in people.table_files(["csv"])
        ],
        texts=people.table_files(["md", "tex"]),
        figures=[
            report(f, caption="../report/human.rst", category="6. Human ratings")
            for f in people.figure_files(["svg"])
        ],
        others=people.figure_files(["pdf", "png", "csv"]),
    log:
        people.path("logs/ratings.log"),
    resources:
        **needs.of("analyse"),
    params:
        decides=lambda wc, output: HumanGrid(chosen().plan).decides_ratings(),
        plan=lambda wc, output: chosen().plan_text(),
    message:
        "read the ratings: means, agreement, label preservation, drift"
    script:
        "../scripts/human_ratings.py"
