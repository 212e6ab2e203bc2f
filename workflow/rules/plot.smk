rule plot:
    input:
        expand(
            grid.run_path("tables/{table}.{suffix}"),
            table=grid.figure_tables,
            suffix=["csv", "md"],
        ),
    output:
        expand(
            grid.run_path("figures/{figure}.{suffix}"),
            figure=[*grid.figures, *grid.cards],
            suffix=["pdf", "png", "csv"],
        ),
        [
            report(
                grid.run_path(f"figures/{figure}.svg"),
                caption=f"../report/{figure}.rst",
                category="1. Figures",
                labels={"figure": figure},
            )
            for figure in grid.figures
        ],
        [
            report(
                grid.run_path(f"figures/{card}.svg"),
                caption="../report/card.rst",
                category="1. Figures",
                subcategory="Cards",
                labels={"figure": card},
            )
            for card in grid.cards
        ],
    log:
        grid.run_path("logs/plot.log"),
    resources:
        **needs.of("plot"),
    params:
        decides=lambda wc: chosen().decides("plot", wc),
        config=lambda wc, output: chosen().resolved_config(),
    message:
        "draw the figures"
    script:
        "../scripts/plot.py"
