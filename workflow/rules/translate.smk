# A dataset that is another one in translation: its texts are asked for before it is frozen.
use rule generate as translate_generate with:
    input:
        manifests=[translations.path(paths.MANIFEST)],
        texts=[translations.path(paths.TEXTS)],
    output:
        translations.path(paths.TRANSLATION_COMPLETIONS),
        stats=translations.stats("generate"),
    log:
        translations.log("generate"),
    params:
        decides=lambda wc, output: translations.decides("generate", wc),
        store=lambda wc, output: grid.path(paths.STORE),
        spec=lambda wc, output: translations.spec(wc, "generators", "prompts"),
    message:
        "translate dataset {wildcards.dataset}: ask {wildcards.generator} for {wildcards.transformation}"


use rule transform as translate_transform with:
    input:
        manifests=[translations.path(paths.MANIFEST)],
        texts=[translations.path(paths.TEXTS)],
        completions=[translations.path(paths.TRANSLATION_COMPLETIONS)],
    output:
        translations.path(paths.TRANSLATION_TRANSFORM),
        stats=translations.stats("transform"),
    log:
        translations.log("transform"),
    params:
        decides=lambda wc, output: translations.decides("transform", wc),
        spec=lambda wc, output: translations.spec(
            wc, "generators", "prompts", "markers"
        ),
    message:
        "translate dataset {wildcards.dataset}: check and flag {wildcards.transformation}"
