# Figures: one rule for each, named as its target, made from the plan. No figure imports torch.

for target, figure in PLAN.figures.items():

    rule:
        name:
            target
        input:
            **PLAN.figure_files(target),
        output:
            pdf=PLAN.figure_file(target, "pdf"),
            csv=PLAN.figure_file(target, "csv"),
            provenance=PLAN.figure_file(target, "json"),
            png=report(
                PLAN.figure_file(target, "png"),
                caption=f"../report/{target}.rst",
                category=PLAN.studies[figure.study].title,
                labels={"figure": figure.name, "shows": figure.title},
            ),
        log:
            paths.LOG.format(stage="figures", name=f"{PLAN.preset}_{target}"),
        conda:
            "../../envs/figures.yaml"
        threads: 1
        resources:
            mem_mb=2000,
            runtime=10,
        params:
            study=figure.study,
            figure=figure.name,
            points=PLAN.figure_points(target),
            code=figure_code(figure.study),
        message:
            f"Figure {target}"
        script:
            "../scripts/figure.py"
