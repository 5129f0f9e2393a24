"""flatlas, PyHessian, curvlinops and hessian-eigenthings on the same models and data, in float32.

    .venv/bin/pip install --no-deps pyhessian==0.1 hessian-eigenthings==1.0.0a5

The table leaves out libraries that are not installed. Each cell is computed in a separate process
on one thread; if that takes few seconds, in three processes, by turns with the other libraries. The
cell has medians of the processor's seconds, of the passes over the data, and of the peak memory
above what the process had before. It also says how far the result is off. If a library leaves the
number of products to the user, it gets the smallest sufficient number of a series, and only that
run counts.
"""

import json
import resource
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.costs import memory

TASKS = {
    "top": "largest eigenvalue to 1e-3",
    "ten": "ten largest to 1e-3",
    "trace": "trace to 1 %",
    "density": "density, two probes of 100 nodes",
}
LIBRARIES = {
    "flatlas": "flatlas",
    "PyHessian": "pyhessian",
    "curvlinops": "curvlinops",
    "eigenthings": "hessian_eigenthings",
}
# These are imported before the processes are forked.
IMPORTED = (
    "torch",
    "flatlas.library.measures.hessian",
    "flatlas.library.measures.spectral_density",
    "safetensors.torch",
    "scipy.sparse.linalg",
    "benchmarks.models",
    "pyhessian",
    "curvlinops.papyan2020traces.spectrum",
    "hessian_eigenthings",
)
# Time is proportional to the number of examples, and memory depends on a batch, so few examples are
# enough to compare. A ResNet-20 takes 0.02 s of a core for a product on one image of CIFAR-10's
# size.
EXAMPLES = {"dense": 2000, "resnet": 16, "transformer": 100}
BATCH = 250
TOLERANCE, ACCURACY, NODES, PROBES, CLASSES = 1e-3, 0.01, 100, 2, 10
# A cell that takes less than CHEAP seconds is measured TIMES times; after LIMIT seconds it ends.
CHEAP, TIMES, LIMIT = 5, 3, 120
# Seconds for a model's training and its reference values.
PREPARATION = 1200
# Numbers of products, for libraries that leave them to the user.
STEPS = {"top": range(5, 200, 5), "ten": range(20, 400, 10)}
SAMPLES = [30 * 2**power for power in range(7)]
SEEDS = 3


@dataclass
class Data:
    """The batches, with a count of the passes over them."""

    batches: list[Any]
    passes: int = 0

    def __iter__(self) -> Iterator[Any]:
        """The batches; counts one more pass."""
        self.passes += 1
        return iter(self.batches)


@dataclass(frozen=True)
class Outcome:
    """What a library found, with the seconds, the passes and the memory (MiB) of its last run."""

    values: list[float]
    seconds: float
    passes: int
    memory: float = 0.0


def main(examples: Mapping[str, int] = EXAMPLES) -> None:
    """Print a table for each problem, row by row."""
    for name in IMPORTED:
        with suppress(ImportError):
            import_module(name)
    there = [name for name, module in LIBRARIES.items() if find_spec(module)]
    if missing := LIBRARIES.keys() - there:
        print(f"Not installed: {', '.join(sorted(missing))}")
    with TemporaryDirectory() as folder:
        for problem, number in examples.items():
            at = Path(folder, problem)
            made = _in_new_process(_make, problem, number, at, limit=PREPARATION)
            print(f"\n{problem}: {made}\n", flush=True)
            if not at.with_suffix(".json").exists():
                continue
            print(f"| task | {' | '.join(there)} |\n|{' --- |' * (len(there) + 1)}")
            for task, words in TASKS.items():
                cells = _row(there, partial(_in_new_process, _process, problem, number, at, task))
                exact = json.loads(at.with_suffix(".json").read_text()).get(task)
                texts = [_text(cells[name], exact) for name in there]
                print(f"| {words} | {' | '.join(texts)} |", flush=True)


def _row(there: list[str], run: Callable[[str], Outcome | str]) -> dict[str, list[Outcome | str]]:
    """The runs of each library: several that alternate, or one if it takes long."""
    cells: dict[str, list[Outcome | str]] = {name: [run(name)] for name in there}
    for _ in range(1, TIMES):
        for name in there:
            first = cells[name][0]
            if isinstance(first, Outcome) and first.seconds < CHEAP:
                cells[name].append(run(name))
    return cells


def _text(runs: list[Outcome | str], exact: list[float] | None) -> str:
    """A cell of the table."""
    done = [one for one in runs if isinstance(one, Outcome)]
    if not done:
        return str(runs[0])
    seconds, memory = (median(vars(one)[key] for one in done) for key in ("seconds", "memory"))
    passes = sorted({one.passes for one in done})
    counted = f"{passes[0]} to {passes[-1]}" if len(passes) > 1 else f"{passes[0]}"
    text = f"{seconds:.2f} s, {counted} passes, {memory:.0f} MiB"
    if exact is None:
        return text
    apart = max(
        abs(one - other) / abs(other)
        for run in done
        for one, other in zip(run.values, exact, strict=True)
    )
    return f"{text}, off by {apart:.1e}"


def _in_new_process(function: Callable[..., Any], *given: Any, limit: int = LIMIT) -> Any:
    """What a function returns in a separate process, or a text that says why it returns nothing."""
    context = get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(theirs, limit, function, given))
    process.start()
    theirs.close()
    found = f"fails: more than {limit} s of the processor"
    with suppress(EOFError):
        found = ours.recv()
    process.join()
    if process.exitcode not in (0, -signal.SIGXCPU):
        return f"fails: exit code {process.exitcode}"
    return found


def _answer(
    theirs: Connection, limit: int, function: Callable[..., Any], given: tuple[Any, ...]
) -> None:
    warnings.filterwarnings("ignore")
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    try:
        theirs.send(function(*given))
    except Exception as error:
        # A cell of a table has neither lines nor bars.
        theirs.send(f"fails: {' '.join(str(error).split())[:80]}".replace("|", "/"))


def _make(problem: str, examples: int, at: Path) -> str:
    """Train the model and save it with its reference values; returns its description."""
    from safetensors.torch import save_model

    from benchmarks.models import MODELS, fitted

    model, data = MODELS[problem](), _data(problem, examples)
    fitted(model, data.batches)
    save_model(model, str(at))
    at.with_suffix(".json").write_text(json.dumps(_reference(problem, model, data)))
    size = sum(parameter.numel() for parameter in model.parameters())
    return f"{size:,} weights, {examples:,} examples in {len(data.batches)} batches"


def _data(problem: str, examples: int) -> Data:
    from benchmarks.models import drawn

    return Data(drawn(problem, examples, min(BATCH, examples // 2), CLASSES))


def _process(problem: str, examples: int, at: Path, task: str, library: str) -> Outcome:
    """The outcome of one run of a cell."""
    import torch
    from safetensors.torch import load_model

    from benchmarks.models import MODELS

    ways: dict[str, Callable[..., Outcome]] = {
        "flatlas": _flatlas,
        "PyHessian": _pyhessian,
        "curvlinops": _curvlinops,
        "eigenthings": _eigenthings,
    }
    model, data = MODELS[problem](), _data(problem, examples)
    load_model(model, at)
    model.eval()
    # A first product and a small model, because torch and the libraries do some work only once.
    inputs, labels = data.batches[0]
    parameters, loss = list(model.parameters()), torch.nn.CrossEntropyLoss()
    slope = torch.autograd.grad(loss(model(inputs[:2]), labels[:2]), parameters, create_graph=True)
    torch.autograd.grad(slope, parameters, [torch.ones_like(one) for one in slope])
    with suppress(Exception):
        small = torch.nn.Linear(20, CLASSES)
        ways[library](task, small, Data([(torch.randn(30, 20), torch.arange(30) % CLASSES)]), None)
    torch.manual_seed(0)
    exact = json.loads(at.with_suffix(".json").read_text()).get("trace")
    # Reset the peak of memory.
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    found = ways[library](task, model, data, exact)
    return replace(found, memory=memory("VmHWM") - before)


def _counted(data: Data, way: Callable[[], list[float]]) -> Outcome:
    before, began = data.passes, time.process_time()
    values = way()
    return Outcome(values, time.process_time() - began, data.passes - before)


def _reference(problem: str, model: Any, data: Data) -> dict[str, list[float]]:
    """The eigenvalues and the trace in float64, by curvlinops and ARPACK where that is fast."""
    import torch

    from benchmarks.models import exact_trace

    found: dict[str, list[float]] = {}
    if problem != "transformer":
        found["trace"] = [exact_trace(model, data.batches)]
    else:
        options = {"top": 60, "bottom": 0, "tolerance": 1e-2, "trace_tolerance": 2e-3}
        found["trace"] = _measured("hessian", options, model, data, torch.float64)["trace"]
    if problem != "resnet":
        doubled = [(x.double() if x.is_floating_point() else x, y) for x, y in data.batches]
        found["ten"] = _eigsh(_operator(model.double(), doubled), 10, 1e-6)
        found["top"] = found["ten"][:1]
    return found


def _flatlas(task: str, model: Any, data: Data, exact: list[float] | None) -> Outcome:
    import torch

    options: dict[str, Any] = {
        "top": {"top": 1, "bottom": 0, "probes": 0, "tolerance": TOLERANCE},
        "ten": {"top": 10, "bottom": 0, "probes": 0, "tolerance": TOLERANCE},
        "trace": {"top": 10, "bottom": 0, "tolerance": 0.03, "trace_tolerance": ACCURACY},
        "density": {"probes": PROBES, "steps": NODES},
    }[task]
    measure = "spectral_density" if task == "density" else "hessian"
    kept = "trace" if task in ("trace", "density") else "eigenvalues"
    return _counted(data, lambda: _measured(measure, options, model, data, torch.float32)[kept])


def _measured(
    name: str, options: dict[str, Any], model: Any, data: Data, dtype: Any
) -> dict[str, list[float]]:
    import flatlas

    found: Any = flatlas.measure(model, data, {name: options}, dtype=dtype)[name]
    values = getattr(found, "eigenvalues", [])
    trace = found.trace
    return {"eigenvalues": [float(one) for one in values], "trace": [trace.value] if trace else []}


def _pyhessian(task: str, model: Any, data: Data, exact: list[float] | None) -> Outcome:
    import numpy as np
    import torch
    from pyhessian import hessian

    of = hessian(model, torch.nn.CrossEntropyLoss(), dataloader=data, cuda=False)
    ways: dict[str, Callable[[], list[float]]] = {
        "top": lambda: of.eigenvalues(tol=TOLERANCE)[0],
        "ten": lambda: of.eigenvalues(tol=TOLERANCE, top_n=10)[0],
        "trace": lambda: [float(np.mean(of.trace(maxIter=1000, tol=TOLERANCE)))],
        "density": lambda: of.density(iter=NODES, n_v=PROBES) and [],
    }
    return _counted(data, ways[task])


def _operator(model: Any, data: Any) -> Any:
    import torch
    from curvlinops import HessianLinearOperator

    parameters = list(model.parameters())
    loss = torch.nn.CrossEntropyLoss()
    return HessianLinearOperator(model, loss, parameters, data, check_deterministic=False)


def _eigsh(operator: Any, count: int, tolerance: float) -> list[float]:
    from scipy.sparse.linalg import eigsh

    values = eigsh(operator.to_scipy(), k=count, which="LA", tol=tolerance)[0]
    return sorted(map(float, values), reverse=True)


def _curvlinops(task: str, model: Any, data: Data, exact: list[float] | None) -> Outcome:
    import torch
    from curvlinops import xtrace
    from curvlinops.papyan2020traces.spectrum import fast_lanczos

    operator = _operator(model, data)
    if task in ("top", "ten"):
        count = 1 if task == "top" else 10
        return _counted(data, lambda: _eigsh(operator, count, TOLERANCE))
    if task == "density":
        return _counted(
            data, lambda: [fast_lanczos(operator, NODES)[0][0].item() for _ in range(PROBES)]
        )

    def sampled(products: int) -> list[float]:
        return [xtrace(operator, products).item()]

    for samples in SAMPLES:
        found = []
        for seed in range(SEEDS):
            torch.manual_seed(seed)
            found.append(_counted(data, partial(sampled, samples)))
        if exact and all(abs(one.values[0] / exact[0] - 1) <= ACCURACY for one in found):
            return found[0]
    raise ValueError(f"more than {SAMPLES[-1]} products")


def _eigenthings(task: str, model: Any, data: Data, exact: list[float] | None) -> Outcome:
    import torch
    from hessian_eigenthings import (
        HessianOperator,
        lanczos,
        spectral_density,
        supervised_loss,
        trace,
    )

    operator = HessianOperator(model, data, supervised_loss(torch.nn.CrossEntropyLoss()))
    kept: list[Any] = []

    def searched(steps: int) -> list[float]:
        count = 1 if task == "top" else 10
        kept[:] = [
            lanczos(
                operator,
                k=count,
                max_iter=steps,
                tol=TOLERANCE,
                which="LA",
                reorthogonalize=True,
                seed=0,
            )
        ]
        return [float(one) for one in kept[0].eigenvalues]

    def sampled(products: int) -> list[float]:
        kept[:] = [trace(operator, num_matvecs=products, seed=0)]
        return [kept[0].estimate]

    if task == "density":
        return _counted(
            data,
            lambda: [
                float(
                    spectral_density(operator, num_runs=PROBES, lanczos_steps=NODES, seed=0).sigma
                )
            ],
        )
    way = sampled if task == "trace" else searched
    numbers = STEPS.get(task, SAMPLES)
    for number in numbers:
        found = _counted(data, partial(way, number))
        if task == "trace":
            enough = kept[0].stderr <= ACCURACY * abs(kept[0].estimate)
        else:
            enough = bool(kept[0].converged.all())
        if enough:
            return found
    raise ValueError(f"more than {numbers[-1]} products")
