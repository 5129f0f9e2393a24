"""Progress of a long job: a bar if it runs by hand, else an occasional line in its log."""

import logging
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm

logger = logging.getLogger("flatlas")
SECONDS_BETWEEN_LINES = 10.0
LINE = "{done} of at most {total}; {facts}; at most {left} s left"
LINES = re.compile(LINE.format(done=r"(\d+)", total=r"(\d+)", facts="(.*)", left=r"(\d+)"))
# The bytes read at the end of a log. A line is much shorter.
TAIL = 4096


@dataclass(frozen=True)
class Step:
    """A progress line of a log; `total` and the seconds `left` are upper limits."""

    done: int
    total: int
    facts: str
    left: int


class Progress:
    """Shows progress: code that works in steps calls `progress(done, total, epoch=…, loss=…)`."""

    def __init__(self, title: str, bar: bool) -> None:
        """A bar on the terminal, or lines in the log."""
        self.title, self.bar = title, bar
        self.began = self.last = time.monotonic()
        self.first: int | None = None
        self.shown: tqdm[Any] | None = None

    def __call__(self, done: int, total: int, /, **facts: Any) -> None:
        """Show that `done` of at most `total` steps are done, with a few facts."""
        # Steps of an earlier, interrupted job say nothing about the speed of this one.
        self.first = done - 1 if self.first is None else self.first
        if self.bar:
            self.shown = self.shown or _bar(total, self.title, self.first)
            self.shown.set_postfix(facts, refresh=False)
            self.shown.update(done - self.shown.n)
            return
        now = time.monotonic()
        if now - self.last >= SECONDS_BETWEEN_LINES or done == total:
            self.last = now
            left = (now - self.began) / (done - self.first) * (total - done)
            listed = ", ".join(f"{name} {value}" for name, value in facts.items())
            line = LINE.format(done=done, total=total, facts=listed, left=round(left))
            logger.info("%s", line)

    def close(self) -> None:
        """Close the bar."""
        if self.shown is not None:
            self.shown.close()


def last_step(log: str | Path) -> Step | None:
    """The last progress line of a job's log, if there is one near its end."""
    with open(log, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL))
        lines = LINES.findall(file.read().decode(errors="replace"))
    if not lines:
        return None
    done, total, facts, left = lines[-1]
    return Step(int(done), int(total), facts, int(left))


def _bar(total: int, title: str, initial: int) -> "tqdm[Any]":
    # Imported here: only jobs by hand have a bar.
    from tqdm import tqdm

    return tqdm(total=total, desc=title, initial=initial)
