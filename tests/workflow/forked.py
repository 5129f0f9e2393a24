"""Start Snakemake and its worker in a moment: fork a process that has imported what they need.

Imports are half of a dry run of the tiny study, and more of a run that trains a net. The forked
process is as Python leaves it to its own main program: the same arguments, folder, environment and
signals. It forks Snakemake's worker first, before anything of flatlas is imported. With
`Checkout.start_cold` and in tests/jobs the worker starts as users have it.
"""

import atexit
import gc
import json
import math
import os
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

LONGEST_CALL = 1 << 18
SNAKEMAKE = "import runpy; runpy.run_module('snakemake', run_name='__main__', alter_sys=True)"


class Forked:
    """A started Python, with those parts of `subprocess.Popen` that tests use."""

    def __init__(self, code: str, argv: list[str], folder: Path, env: dict[str, str]) -> None:
        self.returncode: int | None = None
        call = json.dumps({"code": code, "argv": argv, "folder": str(folder), "env": env})
        said, its_said = os.pipe()
        status, its_status = os.pipe()
        socket.send_fds(server(), [call.encode()], [its_said, its_status])
        os.close(its_said)
        os.close(its_status)
        self._said, self._status = said, os.fdopen(status)
        self.pid = int(self._status.readline())

    def poll(self) -> int | None:
        """The exit code, if it has ended."""
        ready, _, _ = select.select([self._status], [], [], 0)
        return self.wait() if ready else None

    def wait(self) -> int:
        if self.returncode is None:
            self.returncode = int(self._status.readline())
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        """What it and its jobs have said, when they have ended."""
        said, deadline = [], time.monotonic() + (timeout or math.inf)
        while not said or said[-1]:
            if not select.select([self._said], [], [], timeout and deadline - time.monotonic())[0]:
                raise subprocess.TimeoutExpired("snakemake", timeout or 0.0)
            said.append(os.read(self._said, 1 << 16))
        os.close(self._said)
        with self._status:
            self.wait()
        return b"".join(said).decode(), None


@cache
def server() -> socket.socket:
    """The connection to the process that forks, which ends with this one."""
    # Imported here because the forked processes take it from their own checkout.
    from flatlas.plan.requests import THREAD_VARIABLES

    mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    mine.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LONGEST_CALL)
    with its:
        command = [sys.executable, "-P", __file__, str(its.fileno())]
        env = os.environ | dict.fromkeys(THREAD_VARIABLES, "1")
        subprocess.Popen(command, pass_fds=[its.fileno()], stdin=subprocess.DEVNULL, env=env)
    return mine


def popen_with(worker: int, requests: socket.socket) -> type[subprocess.Popen]:
    """A `subprocess.Popen` that uses the forked process where Snakemake starts its worker."""

    class Popen(subprocess.Popen):
        def __init__(self, command, *arguments, **options) -> None:
            if not any("flatlas.jobs.worker" in str(word) for word in command):
                super().__init__(command, *arguments, **options)
                return
            self.pid, self.returncode = worker, None
            call = json.dumps({"code": command[-2], "env": options["env"]})
            with requests:
                socket.send_fds(requests, [call.encode()], options["pass_fds"])

        def wait(self, timeout: float | None = None) -> int:
            if self.pid != worker:
                return super().wait(timeout)
            if self.returncode is None:
                self.returncode = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
            return self.returncode

    return Popen


def serve(calls: socket.socket) -> str:
    """Fork for each call. Return the code to run, in its process and in Snakemake's worker."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        call, numbers, *_ = socket.recv_fds(calls, LONGEST_CALL, 2)
        if not call:
            os._exit(0)
        if os.fork() == 0:
            calls.close()
            return watch(json.loads(call), *numbers)
        for number in numbers:
            os.close(number)


def watch(call: dict, said: int, status: int) -> str:
    """Fork again, and report that process: first its number, then its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        os.close(status)
        return become_called(call, said)
    os.close(said)
    os.write(status, b"%d\n" % pid)
    _, ended = os.waitpid(pid, 0)
    with suppress(BrokenPipeError):
        os.write(status, b"%d\n" % os.waitstatus_to_exitcode(ended))
    os._exit(0)


def become_called(call: dict, said: int) -> str:
    # In its own process group, so that it can be killed with its jobs.
    os.setsid()
    for stream in (1, 2):
        os.dup2(said, stream)
    os.close(said)
    os.chdir(call["folder"])
    mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    mine.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LONGEST_CALL)
    pid = os.fork()
    if pid == 0:
        mine.close()
        return become_worker(its)
    its.close()
    subprocess.Popen = popen_with(pid, mine)
    sys.argv = call["argv"]
    enter(call["env"])
    sys.path.insert(0, call["folder"])
    return call["code"]


def become_worker(calls: socket.socket) -> str:
    """Wait until Snakemake starts its worker, or has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with calls:
        call, numbers, *_ = socket.recv_fds(calls, LONGEST_CALL, 1)
    if not call:
        os._exit(0)
    start = json.loads(call)
    sys.argv = ["-c", str(numbers[0])]
    enter(start["env"])
    return start["code"]


def enter(env: dict[str, str]) -> None:
    # If tests run in the background of a shell, Ctrl-C would be ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path[:0] = filter(None, env.get("PYTHONPATH", "").split(os.pathsep))
    os.environ.clear()
    os.environ.update(env)


def end_at_once() -> None:
    """Skip the rest of Python's own ending, which would take as long as a dry run."""
    if exit_code is not None:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(exit_code)


if __name__ == "__main__":
    exit_code: int | None = None
    # The first to be registered runs last.
    atexit.register(end_at_once)
    # What a dry run imports, and what most jobs do.
    import docutils.core  # noqa: F401
    import fontTools.subset  # noqa: F401
    import jinja2  # noqa: F401
    import matplotlib.backends.backend_pdf
    import matplotlib.pyplot  # noqa: F401
    import nbformat  # noqa: F401
    import pandas  # noqa: F401
    import pyarrow.parquet  # noqa: F401
    import requests  # noqa: F401
    import safetensors.numpy  # noqa: F401
    import scipy.stats  # noqa: F401
    import sklearn.datasets  # noqa: F401
    import snakemake.cli
    import sympy  # noqa: F401
    import torch  # noqa: F401

    # Imports the plugins.
    snakemake.cli.get_argument_parser()
    # A search for garbage would copy all pages of these modules into the forked process.
    gc.freeze()
    try:
        exec(serve(socket.socket(fileno=int(sys.argv[1]))), {})
        exit_code = 0
    except SystemExit as end:
        exit_code = end.code if isinstance(end.code, int) else None
        raise
