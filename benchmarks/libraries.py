"""The library beside PyHessian, curvlinops and hessian-eigenthings: the same models, data, float32.

    .venv/bin/pip install --no-deps pyhessian==0.1 hessian-eigenthings==1.0.0a5

Those that are not installed are left out. Each task runs in a process of its own on one thread.
Printed are seconds of the processor in the call, passes over the data, the peak memory of the
process, and how far the result is off. Where a library leaves the number of products to the user,
it gets the smallest of a series that is enough, and only that run counts.

`python -m benchmarks.libraries PROBLEM TASK LIBRARY WEIGHTS` is one of these processes.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from subprocess import run
from tempfile import TemporaryDirectory
from typing import Any

TASKS = ("top", "ten", "trace", "density")
LIBRARIES = {
    "flatlas": "flatlas",
    "PyHessian": "pyhessian",
    "curvlinops": "curvlinops",
    "eigenthings": "hessian_eigenthings",
}
PROBLEMS = ("dense", "resnet", "transformer")
# ResNet-20 takes 20 s of a core for a product on 1,000 images. Time is proportional to images, and
# memory depends on a batch, so that a few are enough to compare.
IMAGES, BATCH = {"dense": 2000, "resnet": 64, "transformer": 500}, 250
TOLERANCE, ACCURACY, NODES, PROBES, CLASSES = 1e-3, 0.01, 100, 2, 10
TIMES, LIMIT = 3, 600
# Numbers of products, for libraries that leave them to the user.
STEPS = {"top": range(5, 200, 5), "ten": range(20, 400, 10)}
SAMPLES = [30 * 2**power for power in range(7)]
SEEDS = 3


@dataclass
class Data:
    """The batches, and how many passes there were."""

    batches: list[Any]
    passes: int = 0

    def __iter__(self) -> Iterator[Any]:
        """One more pass."""
        self.passes += 1
        return iter(self.batches)


@dataclass
class Outcome:
    """What a library found, with how many seconds and passes of its last run."""

    values: list[float]
    seconds: float
    passes: int


def main() -> None:
    """Print a line for each problem, task and library; the best of some runs, interleaved."""
    there = [name for name, module in LIBRARIES.items() if find_spec(module)]
    for name in LIBRARIES.keys() - there:
        print(f"{name} is not installed: left out")
    with TemporaryDirectory() as folder:
        for problem in PROBLEMS:
            weights = Path(folder, problem)
            exact = _child(problem, "reference", "flatlas", weights)
            print(f"{problem}: {exact['about']}", flush=True)
            for task in TASKS:
                runs = [
                    (name, _child(problem, task, name, weights))
                    for _, name in product(range(TIMES), there)
                ]
                for name in there:
                    _report(task, name, [found for by, found in runs if by == name], exact)


def _report(task: str, name: str, runs: list[dict[str, Any]], exact: dict[str, Any]) -> None:
    done = [one for one in runs if "seconds" in one]
    if not done:
        print(f"  {task:8} {name:12} {runs[0]['failed']}", flush=True)
        return
    seconds, memory = (min(one[key] for one in done) for key in ("seconds", "memory"))
    off = ""
    if task in exact:
        apart = max(
            abs(one - other) / abs(other)
            for one, other in zip(done[0]["values"], exact[task], strict=True)
        )
        off = f", off by {apart:.1e}"
    print(
        f"  {task:8} {name:12} {seconds:8.2f} s, {done[0]['passes']:5} passes, "
        f"{memory:6.0f} MiB{off}",
        flush=True,
    )


def _child(problem: str, task: str, library: str, weights: Path) -> dict[str, Any]:
    """What a process of its own prints, or why it prints nothing."""
    command = [sys.executable, "-m", "benchmarks.libraries", problem, task, library, str(weights)]
    done = run(["timeout", str(LIMIT), *command], capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"failed": f"more than {LIMIT} s" if done.returncode == 124 else last[:120]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _process(problem: str, task: str, library: str, weights: Path) -> dict[str, Any]:
    warnings.filterwarnings("ignore")
    sys.path.insert(0, str(Path(__file__).parents[1] / "workflow"))
    import torch
    from safetensors.torch import load_model, save_model

    torch.set_num_threads(1)
    torch.manual_seed(0)
    from benchmarks.models import MODELS, drawn, fitted

    model = MODELS[problem]()
    data = Data(drawn(problem, IMAGES[problem], min(BATCH, IMAGES[problem] // 2), CLASSES))
    if task == "reference":
        fitted(model, data.batches)
        save_model(model, str(weights))
        return _reference(problem, model, data, weights)
    load_model(model, weights)
    model.eval()
    # What torch does once, it does here.
    inputs, labels = data.batches[0]
    parameters, loss = list(model.parameters()), torch.nn.CrossEntropyLoss()
    slope = torch.autograd.grad(loss(model(inputs[:2]), labels[:2]), parameters, create_graph=True)
    torch.autograd.grad(slope, parameters, [torch.ones_like(one) for one in slope])
    ways: dict[str, Callable[[], Outcome]] = {
        "flatlas": lambda: _flatlas(task, model, data),
        "PyHessian": lambda: _pyhessian(task, model, data),
        "curvlinops": lambda: _curvlinops(task, model, data, weights),
        "eigenthings": lambda: _eigenthings(task, model, data),
    }
    return {**vars(ways[library]()), "memory": _peak()}


def _peak() -> float:
    """The largest memory of this process in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) / 1024


def _counted(data: Data, way: Callable[[], list[float]]) -> Outcome:
    before, began = data.passes, time.process_time()
    values = way()
    return Outcome(values, time.process_time() - began, data.passes - before)


def _reference(problem: str, model: Any, data: Data, weights: Path) -> dict[str, Any]:
    """The eigenvalues and the trace in float64, by curvlinops and ARPACK where that is fast."""
    import torch

    from benchmarks.models import exact_trace

    size = sum(parameter.numel() for parameter in model.parameters())
    found: dict[str, Any] = {"about": f"{size} weights, {IMAGES[problem]} examples"}
    if problem != "transformer":
        found["trace"] = [exact_trace(model, data.batches)]
    else:
        options: dict[str, Any] = {
            "top": 60,
            "bottom": 0,
            "tolerance": 1e-2,
            "trace_tolerance": 2e-3,
        }
        found["trace"] = _measured("hessian", options, model, data, torch.float64)["trace"]
    if problem != "resnet":
        doubled = [(x.double() if x.is_floating_point() else x, y) for x, y in data.batches]
        operator = _operator(model.double(), doubled)
        found["ten"] = _eigsh(operator, 10, 1e-6)
        found["top"] = found["ten"][:1]
    Path(f"{weights}.json").write_text(json.dumps(found))
    return found


def _flatlas(task: str, model: Any, data: Data) -> Outcome:
    import torch

    # Imports are not timed, of no library.
    from flatlas.library.measures import hessian, spectral_density  # noqa: F401

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


def _pyhessian(task: str, model: Any, data: Data) -> Outcome:
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


def _curvlinops(task: str, model: Any, data: Data, weights: Path) -> Outcome:
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
    (exact,) = json.loads(Path(f"{weights}.json").read_text())["trace"]

    def sampled(products: int) -> list[float]:
        return [xtrace(operator, products).item()]

    for samples in SAMPLES:
        found = []
        for seed in range(SEEDS):
            torch.manual_seed(seed)
            found.append(_counted(data, partial(sampled, samples)))
        if all(abs(one.values[0] / exact - 1) <= ACCURACY for one in found):
            break
    return found[0]


def _eigenthings(task: str, model: Any, data: Data) -> Outcome:
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
    for number in STEPS.get(task, SAMPLES):
        found = _counted(data, partial(way, number))
        if task == "trace":
            enough = kept[0].stderr <= ACCURACY * abs(kept[0].estimate)
        else:
            enough = bool(kept[0].converged.all())
        if enough:
            break
    return found


if __name__ == "__main__":
    problem, task, library, weights = sys.argv[1:]
    print(json.dumps(_process(problem, task, library, Path(weights))))
