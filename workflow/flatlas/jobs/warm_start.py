"""Start the local jobs of a run from one worker that has done their imports (worker.py)."""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from flatlas.jobs.worker import NOT_STARTED, children
from flatlas.plan.requests import THREAD_VARIABLES, wants_gpu

if TYPE_CHECKING:
    from snakemake.script import PythonScript

SERVE = "from flatlas.jobs.worker import main; main()"
DEVICES = Path("/dev")
# The device files of GPUs: NVIDIA's, those of Windows' Linux, and AMD's. Without one of them torch
# sees no GPU, and a container has only those that it was given.
OF_GPUS = ("nvidia*", "dxg", "kfd")


def start_jobs_warm() -> None:
    """Have Snakemake start its local jobs of one thread from a worker, if possible.

    Snakemake has no setting for this, so the method that starts a script is replaced. Snakemake
    itself starts every job that the worker can't start.
    """
    # Imported here: the library works without Snakemake.
    from snakemake.script import PythonScript

    worker = start_worker()
    if worker is None:
        return
    start_cold = PythonScript.execute_script

    def execute_script(script: PythonScript, fname: str, edit: bool = False) -> None:
        exit_code = worker.run(fname, script.resources.get("tmpdir")) if fits(script) else None
        if exit_code is None:
            start_cold(script, fname, edit)
        elif exit_code:
            raise subprocess.CalledProcessError(exit_code, [sys.executable, fname])

    PythonScript.execute_script = execute_script


def fits(script: "PythonScript") -> bool:
    """Whether a job can be forked: one thread and process, on a CPU, in this environment."""
    elsewhere = (script.conda_env, script.container_img, script.env_modules, script.shadow_dir)
    watched = script.bench_record
    return (
        script.threads == 1
        and script.resources.get("ranks", 1) == 1
        and not (wants_gpu(script.resources) and may_have_gpu())
        and all(one is None for one in (*elsewhere, watched))
    )


def may_have_gpu() -> bool:
    """Whether this machine, or this container, has the device file of a GPU."""
    return any(path for name in OF_GPUS for path in DEVICES.glob(name))


class StartedWorker:
    """Snakemake's side of the worker."""

    def __init__(self, process: subprocess.Popen[bytes], requests: socket.socket) -> None:
        """`requests` is Snakemake's end of the pair."""
        self.process, self.requests = process, requests

    def run(self, script: str, temporary: str | None) -> int | None:
        """The exit code of a script; None if no process could be started."""
        connection, theirs = socket.socketpair()
        with connection:
            request = json.dumps({"script": script, "temporary": temporary}).encode()
            try:
                with theirs:
                    socket.send_fds(self.requests, [request], [theirs.fileno()])
            except OSError:
                return None
            # The answer is empty if the worker was killed, and the job with it.
            answer = connection.recv(16).decode()
            return None if answer == NOT_STARTED else int(answer or -signal.SIGKILL)

    def end(self) -> None:
        """End the worker and wait for it."""
        self.requests.close()
        self.process.wait()


def start_worker() -> StartedWorker | None:
    """A worker that ends with the main thread, which must call this; None if there can be none."""
    try:
        # The worker needs these features of Linux.
        children()
        os.close(os.pidfd_open(os.getpid()))
        requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", SERVE, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env={**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")},
            )
    except (AttributeError, OSError):
        return None
    worker = StartedWorker(process, requests)
    atexit.register(worker.end)
    return worker
