# Figures: one rule for each, named as its target, made from the plan. No figure imports torch.
# What a paper claims of a figure is judged by the job that draws it. Long lists of inputs are given by
# functions, so that only the figures that are asked for go through theirs.

for target, figure in PLAN["figures"].items():

    rule:
        name:
            target
        input:
            unpack(lambda wildcards, figure=figure: figure["input"]),
        output:
            **figure["results"],
            png=report(
                figure["png"],
                caption=f"../flatlas/studies/{figure['study']}/{figure['name']}.rst",
                category=PLAN["studies"][figure["study"]]["title"],
                labels={"figure": figure["name"], "shows": figure["title"]},
            ),
        log:
            paths.LOG.format(stage="figures", name=f"{PLAN['preset']}_{target}"),
        conda:
            "../../envs/figures.yaml"
        threads: 1
        resources:
            mem_mb=growing(2000),
            runtime=growing(10),
        params:
            spec=figure["spec"],
            judged=PLAN["judged"],
            code=lambda wildcards, modules=figure["modules"]: stage_code("figure", *modules),
        message:
            f"Figure {target}"
        script:
            "../scripts/figure.py"
