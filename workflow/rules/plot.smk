rule plot:
    input:
        expand(
            run_folder.path("tables/{table}.{suffix}"),
            table=run_folder.figure_tables,
            suffix=["csv", "md"],
        ),
    output:
        expand(
            run_folder.path("figures/{figure}.{suffix}"),
            figure=[*run_folder.figures, *run_folder.cards],
            suffix=["pdf", "png", "csv"],
        ),
        [
            report(
                run_folder.path(f"figures/{figure}.svg"),
                caption=f"../report/{figure}.rst",
                category="1. Figures",
                labels={"figure": figure},
            )
            for figure in run_folder.figures
        ],
        [
            report(
                run_folder.path(f"figures/{card}.svg"),
                caption="../report/card.rst",
                category="1. Figures",
                subcategory="Cards",
                labels={"figure": card},
            )
            for card in run_folder.cards
        ],
    log:
        run_folder.path("logs/plot.log"),
    resources:
        **needs.of("plot"),
    params:
        decides=lambda wc, output: chosen().decides("plot", wc),
        plan=lambda wc, output: chosen().plan_text(),
    message:
        "draw the figures"
    script:
        "../scripts/plot.py"
