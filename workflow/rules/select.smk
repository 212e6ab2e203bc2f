# Which generator rewrites: all candidates are screened, the best ones judge each other, one wins.
rule select_texts:
    input:
        selection.dataset(paths.TEXTS),
    output:
        texts=selection.path(paths.SELECTION_TEXTS),
    log:
        selection.log("texts"),
    resources:
        **needs.of("collect"),
    params:
        decides=lambda wc, output: selection.decides_texts(),
        plan=lambda wc, output: grid.plan_text(),
    message:
        "draw the texts that the candidates rewrite"
    script:
        "../scripts/select_texts.py"


use rule generate as select_generate with:
    input:
        manifests=[selection.dataset(paths.MANIFEST)],
        texts=[selection.path(paths.SELECTION_TEXTS)],
    output:
        selection.rewrites(paths.SELECTION_COMPLETIONS),
        stats=selection.stats("generate", "generator"),
    log:
        selection.log("generate", "generator"),
    params:
        decides=lambda wc, output: selection.decides_rewrites("generate", wc.generator),
        store=lambda wc, output: grid.path(paths.STORE),
        spec=lambda wc, output: grid.spec("generators", "transformations", "prompts"),
    message:
        "screen: let candidate {wildcards.generator} rewrite"


use rule transform as select_transform with:
    input:
        manifests=[selection.dataset(paths.MANIFEST)],
        texts=[selection.path(paths.SELECTION_TEXTS)],
        completions=lambda wc: selection.rewrites_of(
            paths.SELECTION_COMPLETIONS, wc.generator
        ),
    output:
        selection.rewrites(paths.SELECTION_TRANSFORM),
        stats=selection.stats("transform", "generator"),
    log:
        selection.log("transform", "generator"),
    params:
        decides=lambda wc, output: selection.decides_rewrites("transform", wc.generator),
        spec=lambda wc, output: grid.spec(
            "generators", "transformations", "prompts", "markers"
        ),
    message:
        "screen: check and flag the rewrites of {wildcards.generator}"


checkpoint select_shortlist:
    input:
        selection.all_rewrites(paths.SELECTION_TRANSFORM),
    output:
        selection.path(paths.SHORTLIST),
        [
            report(t, caption="../report/selection.rst", category="0. Generator")
            for t in selection.tables(of_screening=True, suffixes=("csv",))
        ],
        selection.tables(of_screening=True, suffixes=("md", "tex")),
    log:
        selection.log("shortlist"),
    resources:
        **needs.of("analyse"),
    params:
        decides=lambda wc, output: selection.decides_screening(),
        plan=lambda wc, output: grid.plan_text(),
    message:
        "error rates of all candidates; the lowest make the shortlist"
    script:
        "../scripts/select_shortlist.py"


rule select_judge:
    input:
        transforms=lambda wc: selection.rewrites_of(
            paths.SELECTION_TRANSFORM, wc.generator
        ),
    output:
        ratings=selection.path(paths.RATINGS),
        stats=selection.stats("judge", "judge", "generator"),
    log:
        selection.log("judge", "judge", "generator"),
    threads: 2
    resources:
        **needs.of("judge"),
    params:
        decides=lambda wc, output: selection.decides_rating(wc.judge),
        store=lambda wc, output: grid.path(paths.STORE),
        plan=lambda wc, output: grid.plan_text(),
    message:
        "judge {wildcards.judge} rates the rewrites of {wildcards.generator}"
    script:
        "../scripts/select_judge.py"


checkpoint select_winner:
    input:
        shortlist=selection.path(paths.SHORTLIST),
        ratings=lambda wc: selection.ratings(shortlisted()),
    output:
        selection.path(paths.WINNER),
        [
            report(t, caption="../report/selection.rst", category="0. Generator")
            for t in selection.tables(of_screening=False, suffixes=("csv",))
        ],
        selection.tables(of_screening=False, suffixes=("md", "tex")),
        [
            report(f, caption="../report/selection.rst", category="0. Generator")
            for f in selection.figures("svg")
        ],
        selection.figures("pdf", "png", "csv"),
    log:
        selection.log("winner"),
    resources:
        **needs.of("analyse"),
    params:
        decides=lambda wc, output: selection.decides_choice(),
        plan=lambda wc, output: grid.plan_text(),
    message:
        "compare the generators on the shortlist and take the best"
    script:
        "../scripts/select_winner.py"
