"""A job: the files and values Snakemake hands to a script, its log, its clock, its last words."""

import gc
import json
import logging
import os
import sys
import time
from pathlib import Path
from shutil import rmtree
from types import SimpleNamespace, TracebackType
from typing import Any

from flatlas.errors import FlatlasError
from flatlas.jobs.progress import Progress
from flatlas.jobs.resources import wants_gpu
from flatlas.jobs.worker import list_imports
from flatlas.plan.paths import RESULTS
from flatlas.plan.requests import THREAD_VARIABLES

logger = logging.getLogger("flatlas")
BY_HAND = RESULTS / "by-hand"
# What a job imports, it keeps. With torch that is 200,000 objects, which Python would look through
# for garbage again and again while they come in, and once more at the end: a quarter of the time of
# a short job.
COLLECT_EVERY = gc.get_threshold()
gc.set_threshold(1_000_000)


class Job:
    """Use as `with Job(snakemake, "train") as job:`; everything goes through input and params.

    Inside Snakemake the job logs to its own file. By hand, a script takes the JSON that stands
    beside that log (`python workflow/scripts/train.py results/logs/train/<run>.json`) and does
    the same job again, with as many threads, a progress bar and the log on the terminal. What it
    makes goes to results/by-hand/, for code under a debugger must not pass for the pipeline's.
    """

    logger = logger

    def __init__(self, snakemake: Any, title: str) -> None:
        """Take what Snakemake injected, or what a job's JSON holds."""
        self.by_hand = snakemake is None
        given = _by_hand(_from_json(sys.argv)) if self.by_hand else _from_snakemake(snakemake)
        self.title, self.given = title, given
        self.input = SimpleNamespace(**given["input"])
        self.output = SimpleNamespace(**given["output"])
        self.params = SimpleNamespace(**given["params"])
        self.resources = given["resources"]
        self.threads = int(given["threads"])
        self.log = Path(given["log"])
        self.progress = Progress(title, bar=self.by_hand)

    @property
    def device(self) -> str:
        """'cuda' where the rule was given a GPU and there is one, else 'cpu'."""
        # Here, since it is code that touches results: of the jobs that compute, and of no others.
        from flatlas.device import choose_device

        return choose_device(wanted=wants_gpu(self.resources))

    @property
    def seconds(self) -> float:
        """Wall time since the job began."""
        return time.monotonic() - self.began

    def __enter__(self) -> "Job":
        """Open the log."""
        self.began = time.monotonic()
        gc.freeze()
        gc.set_threshold(*COLLECT_EVERY)
        handlers: list[logging.Handler] = [logging.StreamHandler()]
        if not self.by_hand:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            again = self.log.with_suffix(".json")
            again.write_text(json.dumps(self.given, indent=1) + "\n")
            handlers = [logging.FileHandler(self.log, mode="w")]
        form = "%(asctime)s %(levelname).1s %(message)s"
        logging.basicConfig(level=logging.WARNING, handlers=handlers, format=form, force=True)
        logger.setLevel(logging.INFO)
        logging.captureWarnings(True)
        # matplotlib's fonts have much to say that is nobody's concern.
        logging.getLogger("fontTools").setLevel(logging.ERROR)
        logger.info("%s began", self.title)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Log how it ended; a failure also says so in one sentence on the terminal."""
        self.progress.close()
        if error is None or kind is None:
            logger.info("%s done in %.1f s", self.title, self.seconds)
            if not self.by_hand:
                _leave()
            return
        cause = str(error) if isinstance(error, FlatlasError) else f"{kind.__name__}: {error}"
        logger.error("%s failed: %s", self.title, cause, exc_info=error)
        if self.by_hand:
            return
        print(f"flatlas: {self.title} failed: {cause} (log: {self.log})", file=sys.stderr)
        sys.exit(1)


def _leave() -> None:
    """End the process as it is: all that it has made is on the disk.

    Python would take apart what was imported, which with torch is a seventh of a short job.
    """
    list_imports()
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _from_snakemake(snakemake: Any) -> dict[str, Any]:
    return {
        "input": _plain(snakemake.input),
        "output": _plain(snakemake.output),
        "params": _plain(snakemake.params),
        "resources": _plain(snakemake.resources),
        "threads": snakemake.threads,
        "log": str(snakemake.log[0]),
    }


def _plain(named: Any) -> dict[str, Any]:
    """A Snakemake namedlist as a dictionary of JSON types."""
    return {name: _json_value(value) for name, value in named.items()}


def _json_value(value: Any) -> Any:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, dict):
        return value
    if isinstance(value, int | float) or value is None:
        return value
    return [_json_value(item) for item in value]


def _by_hand(given: dict[str, Any]) -> dict[str, Any]:
    """The same job, its results apart; begun anew with its number of threads if need be."""
    threads = str(given["threads"])
    if os.environ.get("OMP_NUM_THREADS") != threads:
        # Libraries read these when they are loaded, which they are by now.
        pinned = dict.fromkeys(THREAD_VARIABLES, threads)
        # With all that Python was called with: a debugger, say.
        called = [sys.executable, *sys.orig_argv[1:]]
        os.execve(sys.executable, called, {**os.environ, **pinned})
    apart = {name: _apart(path) for name, path in given["output"].items()}
    params = dict(given["params"])
    if "code" in params:
        # Which code it is that runs, with whatever was changed meanwhile, nobody knows.
        params["code"] = "by hand"
    if "resume" in params:
        params["resume"] = _apart(params["resume"])
        # So nothing goes on from what other code has left.
        rmtree(params["resume"], ignore_errors=True)
    return {**given, "output": apart, "params": params}


def _apart(path: str) -> str:
    return str(BY_HAND / Path(path).relative_to(RESULTS))


def _from_json(arguments: list[str]) -> dict[str, Any]:
    if len(arguments) != 2 or not (arguments[1].endswith(".json") and Path(arguments[1]).is_file()):
        script = Path(arguments[0]).name
        raise SystemExit(
            f"{script} runs inside Snakemake. To do one of its jobs again by hand, give it the "
            f"JSON beside the job's log: python workflow/scripts/{script} results/logs/….json"
        )
    given: dict[str, Any] = json.loads(Path(arguments[1]).read_text())
    return given
