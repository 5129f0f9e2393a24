"""Which code each stage's result depends on: its script, and what its spec picks by name."""

from pathlib import Path

from flatlas.plan.data_specs import FunctionsSpec, SourceSpec
from flatlas.plan.fingerprint import LIBRARY, fingerprint
from flatlas.plan.kernel_specs import KernelSpec
from flatlas.plan.measure_specs import MeasureSpec
from flatlas.plan.net_specs import NetSpec, Own
from flatlas.plan.training_specs import RunSpec

SCRIPTS = LIBRARY.parent / "scripts"


def script(name: str) -> Path:
    """The script of a rule."""
    return SCRIPTS / f"{name}.py"


def stage_code(name: str) -> str:
    """For a stage whose script imports all that it uses."""
    return fingerprint(script(name))


def source_code(source: SourceSpec) -> str:
    """Loading one kind of data source."""
    return fingerprint(script("source"), f"flatlas.data.sources.{source.kind}")


def functions_code(functions: FunctionsSpec) -> str:
    """Counting the functions of random nets of one family."""
    return fingerprint(script("functions"), *_net(functions.net))


def kernel_code(kernel: KernelSpec) -> str:
    """Sampling the kernel of one family of nets."""
    return fingerprint(script("kernel"), *_net(kernel.net))


def _net(net: NetSpec) -> list[str]:
    """The module of a net's family, and of the net itself where it is a user's own."""
    own = [net.module.partition(":")[0]] if isinstance(net, Own) else []
    return [f"flatlas.nets.{net.family}", *own]


def training_code(run: RunSpec) -> str:
    """Training one family of nets with one optimizer."""
    return fingerprint(
        script("train"),
        *_net(run.net),
        f"flatlas.training.optimizers.{run.optimizer.name}",
    )


def measure_code(measure: MeasureSpec) -> str:
    """One measure on one family of nets."""
    return fingerprint(
        script("measure"),
        f"flatlas.measures.{measure.options.measure}",
        *_net(measure.run.net),
    )


def figure_code(study: str, figure: str) -> str:
    """Drawing one figure, and judging its claims."""
    judge = [f"flatlas.scorecard.{study}.{figure}"] if is_judged(study, figure) else []
    return fingerprint(script("figure"), f"flatlas.figures.{study}.{figure}", *judge)


def is_judged(study: str, figure: str) -> bool:
    """Whether the paper claims anything of a figure: a schematic has no module in the scorecard."""
    return (LIBRARY / "scorecard" / study / f"{figure}.py").is_file()
