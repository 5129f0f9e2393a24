"""A job: the files and values that Snakemake gives to a script, its log, its time and its end."""

import gc
import logging
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import rmtree
from types import SimpleNamespace, TracebackType
from typing import Any

from flatlas.errors import FlatlasError, named
from flatlas.jobs.progress import Progress
from flatlas.jobs.terminal import ERASE
from flatlas.jobs.worker import list_imports
from flatlas.plan.paths import BY_HAND, RESULTS
from flatlas.plan.requests import THREAD_VARIABLES, wants_gpu
from flatlas.store.json_files import read_json, write_json
from flatlas.store.provenance import verify, write_provenance

logger = logging.getLogger("flatlas")
# Imports are never garbage, but with torch they are 200,000 objects. Python would search them for
# garbage repeatedly during the imports and once at the end: a quarter of a short job's time.
COLLECT_EVERY = gc.get_threshold()
gc.set_threshold(1_000_000)


class Job:
    """Use as `with Job(snakemake, "train") as job:`; a script takes everything from `job`.

    Inside Snakemake the job logs to its own file. By hand, a script takes the JSON beside that log
    (`python workflow/scripts/train.py results/logs/train/<run>.json`) and repeats the job with the
    same number of threads, a progress bar and the log on the terminal. Its outputs go to
    results/by-hand/, so that results made under a debugger are not mistaken for the pipeline's.
    """

    logger = logger

    def __init__(self, snakemake: Any, title: str) -> None:
        """Take the object that Snakemake injected, or a job's JSON."""
        self.by_hand = snakemake is None
        given = (
            _by_hand(_from_json(sys.argv, title))
            if self.by_hand
            else {"job": title, **_from_snakemake(snakemake)}
        )
        self.title, self.given = title, given
        self.input = SimpleNamespace(**given["input"])
        self.output = SimpleNamespace(**given["output"])
        self.params = SimpleNamespace(**given["params"])
        self.resources = given["resources"]
        self.log = Path(given["log"])
        self.progress = Progress(title, bar=self.by_hand)

    @property
    def device(self) -> str:
        """'cuda' if the rule was given a GPU and there is one, else 'cpu'."""
        # Imported here: its code affects results, and only jobs that compute should depend on it.
        from flatlas.device import choose_device

        return choose_device(wanted=wants_gpu(self.resources))

    @property
    def seconds(self) -> float:
        """Wall time since the job began."""
        return time.monotonic() - self.began

    def __enter__(self) -> "Job":
        """Open the log, and check every result that the job reads."""
        self.began = time.monotonic()
        gc.freeze()
        gc.set_threshold(*COLLECT_EVERY)
        handlers: list[logging.Handler] = [logging.StreamHandler()]
        if not self.by_hand:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            write_json(self.log.with_suffix(".json"), self.given)
            handlers = [logging.FileHandler(self.log, mode="w")]
        form = "%(asctime)s %(levelname).1s %(message)s"
        logging.basicConfig(level=logging.WARNING, handlers=handlers, format=form, force=True)
        logger.setLevel(logging.INFO)
        logging.captureWarnings(True)
        # matplotlib's font manager logs a lot of irrelevant lines.
        logging.getLogger("fontTools").setLevel(logging.ERROR)
        logger.info("%s began", self.title)
        try:
            verify(_results(self.given["input"]))
        except FlatlasError:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def warn(self, sentence: str) -> None:
        """Write a warning to the log, and to the terminal."""
        logger.warning(sentence)
        if not self.by_hand:
            print(f"flatlas: {self.title} warns: {sentence} (log: {self.log})", file=sys.stderr)

    def record(self, **circumstances: Any) -> None:
        """Write the provenance of the outputs. All other outputs must be complete."""
        outputs = self.given["output"].items()
        if read := getattr(self.params, "originals", ""):
            # A digest of the images in a folder, which the spec does not cover.
            circumstances["originals"] = read
        write_provenance(
            self.output.provenance,
            files=[file for name, file in outputs if name != "provenance"],
            spec=self.given["params"].get("spec", {}),
            code=self.params.code,
            seconds=self.seconds,
            **circumstances,
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Log how the job ended; a failure also prints one sentence on the terminal."""
        self.progress.close()
        if error is None or kind is None:
            logger.info("%s done in %.1f s", self.title, self.seconds)
            if not self.by_hand:
                _leave()
            return
        cause = str(error) if isinstance(error, FlatlasError) else named(error)
        logger.error("%s failed: %s", self.title, cause, exc_info=error)
        if self.by_hand:
            return
        # On a terminal there may be lines below the cursor (terminal.py).
        start = ERASE if sys.stderr.isatty() else ""
        print(f"{start}flatlas: {self.title} failed: {cause} (log: {self.log})", file=sys.stderr)
        sys.exit(1)


def _leave() -> None:
    """End the process without cleaning up: all its results are on disk.

    Python would tear down all imports. With torch this takes a seventh of a short job's time.
    """
    list_imports()
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _from_snakemake(snakemake: Any) -> dict[str, Any]:
    """Snakemake's lists of named values, as dictionaries of JSON types."""
    given = {
        kind: {name: _json_value(value) for name, value in getattr(snakemake, kind).items()}
        for kind in ("input", "output", "params", "resources")
    }
    return {**given, "threads": snakemake.threads, "log": str(snakemake.log[0])}


def _json_value(value: Any) -> Any:
    if isinstance(value, str):
        return str(value)
    if value is None or isinstance(value, dict | int | float):
        return value
    return [_json_value(item) for item in value]


def _results(inputs: Mapping[str, Any]) -> Iterator[str]:
    """The inputs that an earlier job made. A user's own weights are elsewhere."""
    for files in inputs.values():
        for file in [files] if isinstance(files, str) else files:
            if Path(file).is_relative_to(RESULTS):
                yield file


def _by_hand(given: dict[str, Any]) -> dict[str, Any]:
    """The same job with separate results; restarts Python if the number of threads differs."""
    threads = str(given["threads"])
    if os.environ.get("OMP_NUM_THREADS") != threads:
        # Libraries read these variables when they are loaded, which has already happened.
        pinned = dict.fromkeys(THREAD_VARIABLES, threads)
        # Keep all arguments that Python was called with, such as a debugger's.
        called = [sys.executable, *sys.orig_argv[1:]]
        os.execve(sys.executable, called, {**os.environ, **pinned})
    output = {name: _by_hand_path(path) for name, path in given["output"].items()}
    params = dict(given["params"])
    if "code" in params:
        # The code may have changed since the JSON was written, so its version is unknown.
        params["code"] = "by hand"
    if "resume" in params:
        params["resume"] = _by_hand_path(params["resume"])
        # The job must not resume from a state that other code has saved.
        rmtree(params["resume"], ignore_errors=True)
    return {**given, "output": output, "params": params}


def _by_hand_path(path: str) -> str:
    return str(BY_HAND / Path(path).relative_to(RESULTS))


def _from_json(arguments: list[str], title: str) -> dict[str, Any]:
    script = Path(arguments[0]).name
    if len(arguments) != 2 or not (arguments[1].endswith(".json") and Path(arguments[1]).is_file()):
        raise SystemExit(
            f"{script} runs inside Snakemake. To repeat one of its jobs by hand, give it the "
            f"JSON beside the job's log: python workflow/scripts/{script} results/logs/….json"
        )
    file = arguments[1]
    try:
        given: dict[str, Any] = read_json(file)
    except FlatlasError as error:
        raise SystemExit(str(error)) from None
    named_job = given.get("job") if isinstance(given, dict) else None
    if named_job != title or "log" not in given:
        what = f"is of the job '{named_job}'" if named_job else "names no job"
        raise SystemExit(
            f"{file} {what}, but {script} repeats the job '{title}'. Give it the JSON beside the "
            "log of such a job, written by this version of flatlas."
        )
    if not Path(given["log"]).parent.is_dir():
        # All files of a job are relative to that folder.
        raise SystemExit(
            f"{file} is of a job with the log {given['log']}, but {Path.cwd()} has no such "
            "folder. Start the script in the folder in which Snakemake ran."
        )
    return given
