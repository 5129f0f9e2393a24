"""Which code each stage's result depends on: its script, and the modules its spec picks by name."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from flatlas.plan.fingerprint import LIBRARY, closure, fingerprint

# A dry run takes fingerprints without loading the models of the specs.
if TYPE_CHECKING:
    from flatlas.plan.data_specs import SourceSpec
    from flatlas.plan.families import NetSpec
    from flatlas.plan.families.own import Own
    from flatlas.plan.lookup import Job
    from flatlas.plan.measure_specs import MeasureSpec
    from flatlas.plan.training_specs import RunSpec

SCRIPTS = LIBRARY.parent / "scripts"
STUDIES = LIBRARY / "studies"
# Templates, by the module through which a script fills them.
TEMPLATES = {
    "flatlas.report.rendering": LIBRARY / "report" / "templates",
    "flatlas.explorer.page": LIBRARY / "explorer" / "template",
}


def code_of(job: "Job") -> str:
    """The fingerprint of the code that makes a job's result."""
    return stage_code(job.script, *job.modules)


def stage_code(stage: str, *modules: str) -> str:
    """The fingerprint of a stage: its script with all it imports, and modules picked by name."""
    return fingerprint(SCRIPTS / f"{stage}.py", *modules, *_templates(stage))


@cache
def _templates(stage: str) -> tuple[Path, ...]:
    """All templates, if the stage's script fills any."""
    used = closure([SCRIPTS / f"{stage}.py"])
    folders = [folder for module, folder in TEMPLATES.items() if module in used]
    return tuple(sorted(file for folder in folders for file in folder.iterdir()))


def source_modules(source: "SourceSpec") -> list[str]:
    """The module that loads one kind of data source."""
    return [f"flatlas.data.sources.{source.kind}"]


def net_modules(net: "NetSpec") -> list[str]:
    """The module of a net's family, the module of a user's own net, and the file of given weights.

    Without the weights, Snakemake would miss a replaced file if its time is older than the results.
    """
    modules = [f"flatlas.nets.{net.family}"]
    if net.family == "own":
        modules.append(cast("Own", net).module.partition(":")[0])
    weights = getattr(net, "weights", None)
    return [*modules, weights] if weights else modules


def training_modules(run: "RunSpec") -> list[str]:
    """The modules of a net and its optimizer, and the kernel in C, which is only for dense nets."""
    kernel = ["training/kernel.c"] if run.net.family == "dense" else []
    return [*kernel, *net_modules(run.net), f"flatlas.training.optimizers.{run.optimizer.name}"]


def measure_modules(measure: "MeasureSpec") -> list[str]:
    """The modules of a measure and of the net that it is taken of."""
    return [f"flatlas.measures.{measure.options.measure}", *net_modules(measure.run.net)]


def figure_modules(study: str, module: str) -> list[str]:
    """The module that draws a figure and judges its claims."""
    return [f"flatlas.studies.{study}.{module}"]
