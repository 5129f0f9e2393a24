# Figures: one rule for each, named as its target. No figure imports torch. The job that draws a
# figure also judges the paper's claims about it. Inputs are given by functions, because the lists
# are long and only requested figures need theirs.

# The figure of atlas_mine also reads the published table; its rule is in report.smk.
DRAWN_HERE = {
    target: figure for target, figure in PLAN.figures.items() if figure.study != paths.ATLAS_MINE
}

try:
    check_names(
        PLAN.studies,
        {target: figure.study for target, figure in DRAWN_HERE.items()},
        [rule.name for rule in workflow.rules],
    )
except FlatlasError as error:
    raise WorkflowError(str(error)) from None

for target, figure in DRAWN_HERE.items():

    rule:
        name:
            target
        input:
            unpack(lambda wildcards, target=target: inputs_of(target)),
        output:
            **JOBS[target].outputs
            | {
                "png": report(
                    JOBS[target].outputs["png"],
                    caption=f"../flatlas/studies/{figure.caption}",
                    category=PLAN.studies[figure.study].title,
                    labels={"figure": figure.name, "shows": figure.title},
                )
            },
        log:
            log_of(target),
        conda:
            "../../envs/figures.yaml"
        resources:
            **request_of(JOBS[target]),
        params:
            spec=JOBS[target].spec,
            judged=PLAN.judged,
            code=lambda wildcards, target=target: code_of(JOBS[target]),
        message:
            f"Figure {target}"
        script:
            "../scripts/figure.py"

    # What --list-rules prints.
    workflow.get_rule(target).docstring = f"Figure: {figure.title}"
