"""Progress of the running jobs: at the bottom of a terminal, or in an occasional message.

A thread in Snakemake's process reads the end of each running job's log once a second.

The lines are below the cursor, which stays in the empty line above them. So new text from Snakemake
or a job appears above the lines, once everything below the cursor is erased. A killed process
leaves nothing else behind.
"""

import atexit
import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from flatlas.jobs.messages import Messages, name_of, single
from flatlas.jobs.progress import last_step

if TYPE_CHECKING:
    from snakemake.scheduling.job_scheduler import JobScheduler

# Erase from the cursor to the end of the screen, or of the line.
ERASE, ERASE_LINE = "\033[J", "\033[K"
SECONDS_BETWEEN_DRAWINGS = 1.0
# Without a terminal only jobs that take longer than this are shown, and this often.
SECONDS_BETWEEN_LINES = 60.0
MOST_LINES = 10


class WithLines:
    """A terminal's stream that keeps a few lines below what is written to it."""

    def __init__(self, stream: TextIO) -> None:
        """Take the stream that Snakemake writes to."""
        self.stream = stream
        self.lines: list[str] = []

    def write(self, text: str) -> int:
        """Write text above the lines, which stay erased until the next `flush`."""
        return self.stream.write(ERASE + text)

    def flush(self) -> None:
        """Draw the lines, and return to the empty line above them."""
        if self.lines:
            width = os.get_terminal_size(self.stream.fileno()).columns - 1
            below = "".join(f"\n{line[:width]}{ERASE_LINE}" for line in self.lines)
            self.stream.write(f"{below}{ERASE}\033[{len(self.lines)}A\r")
        self.stream.flush()

    def __getattr__(self, name: str) -> Any:
        """Any other attribute of the stream."""
        return getattr(self.stream, name)


class Drawing:
    """Draws lines below the text that a handler of Snakemake writes to a terminal."""

    def __init__(self, handler: "logging.StreamHandler[Any]") -> None:
        """Make the handler write above the lines from now on."""
        self.handler, self.stream = handler, WithLines(handler.stream)
        handler.setStream(self.stream)

    def show(self, lines: list[str]) -> None:
        """Draw these lines in place of the last ones."""
        # In the background the cursor is where the user types.
        in_front = os.tcgetpgrp(self.stream.fileno()) == os.getpgrp()
        self.handler.acquire()
        try:
            if self.stream.lines and not lines:
                self.stream.write("")
            self.stream.lines = lines if in_front else []
            self.handler.flush()
        finally:
            self.handler.release()


def show_running(scheduler: "JobScheduler", messages: Messages) -> Callable[[], None]:
    """Show the running jobs until the returned function is called, or Snakemake ends."""
    # Imported here: the library works without Snakemake.
    from snakemake.logging import ColorizingTextHandler, is_quiet_about, logger

    workflow = scheduler.workflow
    quiet = is_quiet_about(workflow.output_settings.quiet or (), "progress")
    if quiet or workflow.execution_settings.debug:
        return lambda: None

    def log(lines: list[str]) -> None:
        if lines:
            logger.info("\n".join(["Running:", *lines]))

    show, seconds, least = log, SECONDS_BETWEEN_LINES, SECONDS_BETWEEN_LINES
    for handler in logger.handlers:
        # Snakemake writes no colours if there is no terminal, or if the terminal cannot draw.
        if isinstance(handler, ColorizingTextHandler) and not handler.nocolor:
            show, seconds, least = Drawing(handler).show, SECONDS_BETWEEN_DRAWINGS, 0.0
    stopped = threading.Event()

    def work() -> None:
        ended = False
        while not ended:
            ended = stopped.wait(seconds)
            # The terminal may be closed, or a single drawing may fail.
            with suppress(OSError):
                show([] if ended else running_lines(scheduler, messages, least))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()

    def stop() -> None:
        stopped.set()
        thread.join()

    # If Snakemake itself fails, it calls no hook.
    atexit.register(stop)
    return stop


def running_lines(scheduler: "JobScheduler", messages: Messages, least_seconds: float) -> list[str]:
    """A line for each job that has begun, the oldest first, and one that counts the others."""
    # Jobs of local rules print their results; lines would be in the way.
    local = scheduler.workflow._localrules
    running = [job for job in single(tuple(scheduler.running)) if job.rule.name not in local]
    lines = []
    for job in running:
        if job.log and messages.is_new(job.log[0]):
            # A log may vanish while it is read.
            with suppress(OSError):
                seconds, line = line_of(name_of(job), Path(job.log[0]))
                if seconds >= least_seconds:
                    lines.append((seconds, line))
    shown = [line for _, line in sorted(lines, reverse=True)[:MOST_LINES]]
    others = len(running) - len(shown)
    # Without a terminal, a message that only counts waiting jobs would say nothing.
    if others and (shown or not least_seconds):
        shown.append(f"{others:>7} starting, waiting or not shown")
    return shown


def line_of(name: str, log: Path) -> tuple[float, str]:
    """The seconds that a job has run, and its line: time, progress, time left, name, facts, log."""
    now = time.time()
    # The job wrote this when it began.
    seconds = now - log.with_suffix(".json").stat().st_mtime
    step, progress, facts = last_step(log), "", ""
    if step:
        since = max(0.0, now - log.stat().st_mtime)
        left = clock(max(0.0, step.left - since))
        progress, facts = f"{step.done / step.total:4.0%}, ≤ {left} left", step.facts
    parts = [f"{clock(seconds):>7} {progress:20}", name, facts, str(log)]
    return seconds, "  ".join(filter(None, parts))


def clock(seconds: float) -> str:
    """Minutes and seconds, with hours if there are any: '0:07', '12:40', '3:05:00'."""
    minutes, second = divmod(max(0, int(seconds)), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
