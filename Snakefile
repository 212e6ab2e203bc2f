# stressbed: how robust are text-embedding models when their input texts change?
# A table of contents: the stages are in workflow/rules, their code in src/stressbed.
from snakemake.utils import min_version

min_version("9.20")


if not workflow.overwrite_configfiles:

    configfile: "config/quickstart.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/dataset.smk"
include: "workflow/rules/generate.smk"
include: "workflow/rules/transform.smk"
include: "workflow/rules/embed.smk"
include: "workflow/rules/score.smk"
include: "workflow/rules/collect.smk"
include: "workflow/rules/analyse.smk"
include: "workflow/rules/plot.smk"
include: "workflow/rules/report.smk"


if grid.plan.translations:

    include: "workflow/rules/translate.smk"


if grid.plan.config.selection:

    include: "workflow/rules/select.smk"


if grid.plan.config.human:

    include: "workflow/rules/human.smk"


# Every intermediate is a target: one that a failed job removed would otherwise go unnoticed.
rule all:
    default_target: True
    input:
        selection.targets(),
        lambda wc: selection.ratings(shortlisted()) if selection.plan.selection else [],
        lambda wc: chosen().targets(),
        people.targets(),
        translations.targets(),
    message:
        f"all results of the run {grid.plan.config.run}"


onstart:
    begin(workflow, grid.plan)


onsuccess:
    write_report(grid.plan, snakefile(workflow))
    logger.info("\n".join(["Results:", *where_results_are(grid.plan)]))


onerror:
    logger.error(
        f"Logs of the jobs: {grid.path('logs')}/ . What was finished is kept; run again to go on. "
        "Tables and figures of the cells that are there: `snakemake partial`, with the same config."
    )
