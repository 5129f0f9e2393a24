"""The process that local jobs are forked from, with their imports already done.

Importing torch takes a core several seconds, more than most jobs of a small scale need. So
Snakemake's own process starts one worker (`warm_start.py`), sends it each script to run, and waits
for the job's exit code. The worker imports what the script imports, forks, and the child runs the
script as Python would have.

The two processes talk over a pair of connected sockets that have no name, so nobody else can reach
the worker and nothing lies on the disk. Each request brings a separate connection, which worker and
job keep open: if no exit code is sent, the connection closes only when both have ended.

A job stays in Snakemake's process group, so Ctrl-C, Ctrl-Z and a batch system's signals reach it
like a job that was started cold. A job ends with the worker, and the worker with Snakemake.
Processes that a job has started end with it; one that has left its parent may end earlier, with
another job. Only `kill -9` of the worker leaves such processes behind, as `kill -9` of a cold job
does.
"""

import ast
import ctypes
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NoReturn

LIBRARY = Path(__file__).parents[2]
# A request names a script and a folder for temporary files.
LONGEST_REQUEST = 1 << 16
# The answer if no process could be forked: Snakemake then starts the job itself.
NOT_STARTED = "not started"
TEMPORARY = ("TMPDIR", "TMP", "TEMPDIR", "TEMP")
# From linux/prctl.h.
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


@dataclass(frozen=True)
class Running:
    """A job: its process, the connection to Snakemake, the file that will list its imports."""

    pid: int
    connection: socket.socket
    imports: IO[str]


class Worker:
    """Forks a job for each request and returns its exit code."""

    def __init__(self, requests: socket.socket) -> None:
        """`requests` is the worker's end of the pair."""
        self.requests = requests
        self.running: dict[int, Running] = {}
        self.selector = selectors.DefaultSelector()
        self.selector.register(requests, selectors.EVENT_READ)
        # Jobs handle Ctrl-C as Python does, or ignore it where Snakemake was started that way. The
        # worker starts no more jobs then, because Snakemake is about to end.
        self.interrupted = False
        self.on_interrupt = signal.getsignal(signal.SIGINT)
        if self.on_interrupt != signal.SIG_IGN:
            signal.signal(signal.SIGINT, self._interrupt)
        signal.signal(signal.SIGTERM, lambda *_: self.end())
        _prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        # Processes that a job leaves running when it dies become children of the worker.
        _prctl(PR_SET_CHILD_SUBREAPER, 1)

    def serve(self) -> str:
        """The path of the script, in a job's process; never returns in the worker."""
        while True:
            for key, _ in self.selector.select():
                if key.fileobj is not self.requests:
                    self._finish(key.fd)
                elif script := self._begin():
                    return script

    def _begin(self) -> str | None:
        """Fork for one request; the script's path in the child, None in the worker."""
        message, descriptors, *_ = socket.recv_fds(
            self.requests, LONGEST_REQUEST, 1, flags=socket.MSG_CMSG_CLOEXEC
        )
        if not message:
            self.end()
        if not descriptors:
            # No more files can be opened. Without an answer, Snakemake counts the job as failed.
            return None
        connection = socket.socket(fileno=descriptors[0])
        request: dict[str, Any] = json.loads(message)
        with suppress(Exception, SystemExit):
            # An import that fails here fails again in the job, which reports the error.
            import_as(request["script"])
        with _signals_blocked():
            if self.interrupted:
                _answer(connection, str(-signal.SIGINT))
                return None
            worker = os.getpid()
            try:
                imports = open(os.memfd_create("imports"), "w+")  # noqa: SIM115
                pid = os.fork()
            except OSError:
                _answer(connection, NOT_STARTED)
                return None
            job = Running(pid, connection, imports)
            if pid == 0:
                self._become_job(worker, job, request["temporary"])
                return str(request["script"])
            finished = os.pidfd_open(pid)
            self.running[finished] = job
            self.selector.register(finished, selectors.EVENT_READ)
        return None

    def _interrupt(self, *_: Any) -> None:
        self.interrupted = True

    def _become_job(self, worker: int, this: Running, temporary: str | None) -> None:
        """Close what belongs to the worker and other jobs; keep the imports."""
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != worker:
            os._exit(1)
        signal.signal(signal.SIGINT, self.on_interrupt)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self.selector.close()
        self.requests.close()
        for finished, job in self.running.items():
            os.close(finished)
            job.connection.close()
            job.imports.close()
        if temporary:
            os.environ.update(dict.fromkeys(TEMPORARY, temporary))
            tempfile.tempdir = None
        _THIS.append(this)

    def _finish(self, finished: int) -> None:
        """End the processes that a job started, send its exit code, and import what it imported."""
        job = self.running.pop(finished)
        self.selector.unregister(finished)
        os.close(finished)
        _, status = os.waitpid(job.pid, 0)
        self._kill_orphans()
        _answer(job.connection, str(os.waitstatus_to_exitcode(status)))
        with job.imports:
            job.imports.seek(0)
            for name in job.imports.read().split():
                _try_to_import(name)

    def _kill_orphans(self) -> None:
        """Kill every child that is not a running job, and the children they leave."""
        jobs = {job.pid for job in self.running.values()}
        while orphans := children() - jobs:
            for pid in orphans:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)

    def end(self) -> NoReturn:
        """End every job, all processes that they have started, and the worker."""
        self.running.clear()
        self._kill_orphans()
        os._exit(0)


# In a job's process, the job; empty elsewhere.
_THIS: list[Running] = []


def list_imports() -> None:
    """List this job's imports for the worker, if there is one."""
    for job in _THIS:
        job.imports.write("\n".join(_own_imports()))
        job.imports.flush()


def children() -> set[int]:
    """The processes that this one has started or adopted."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
    return set(map(int, listed.split()))


def import_as(script: str) -> None:
    """Import what a script imports at its top, as far as that can be imported."""
    tree = ast.parse(Path(script).read_bytes())
    for node in tree.body:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            # A name may be a module or a member of one.
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            _try_to_import(name)


def _try_to_import(name: str) -> None:
    with suppress(Exception):
        import_module(name)


def _own_imports() -> Iterator[str]:
    """The modules of flatlas and of installed packages: not a user's own, which may change."""
    installed = tuple(f"{folder}{os.sep}" for folder in (LIBRARY, sys.prefix, sys.base_prefix))
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(installed):
            yield name


def _answer(connection: socket.socket, exit_code: str) -> None:
    with connection, suppress(BrokenPipeError):
        connection.sendall(exit_code.encode())


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Block signals between fork and the new handlers: the other process's handlers would run."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prctl(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, value) != 0:
        raise OSError(ctypes.get_errno(), "prctl failed")


def main() -> None:
    """Serve the socket whose number is the only argument; in a job's process, run its script."""
    with socket.socket(fileno=int(sys.argv[1])) as requests:
        script = Worker(requests).serve()
    sys.argv = [script]
    sys.path.insert(0, str(Path(script).parent))
    runpy.run_path(script, run_name="__main__")
