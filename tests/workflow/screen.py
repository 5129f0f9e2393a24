"""A program in a terminal of its own, and what the terminal shows."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
from collections.abc import Callable
from pathlib import Path

# A sequence that moves or erases, or one character.
TOKEN = re.compile(r"\x1b\[(\d*)([A-Za-z])|(.)", re.DOTALL)


class Screen:
    """The text of a terminal that is high enough to keep every line."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.rows: list[list[str]] = [[]]
        self.row = self.column = 0

    def __str__(self) -> str:
        return "\n".join("".join(row).rstrip() for row in self.rows)

    def feed(self, text: str) -> None:
        for number, sequence, character in TOKEN.findall(text):
            if sequence == "A":
                self.row -= int(number)
            elif sequence in ("J", "K"):
                del self.rows[self.row][self.column :]
                if sequence == "J":
                    del self.rows[self.row + 1 :]
            elif character == "\r":
                self.column = 0
            elif character == "\n":
                self._next_row()
            elif character:
                self._put(character)

    def _put(self, character: str) -> None:
        if self.column == self.columns:
            self.column = 0
            self._next_row()
        row = self.rows[self.row]
        row.extend(" " * (self.column + 1 - len(row)))
        row[self.column] = character
        self.column += 1

    def _next_row(self) -> None:
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append([])


class InTerminal:
    """A program whose input and output are a terminal, as if a user had started it there."""

    def __init__(self, command: list[str], folder: Path, env: dict[str, str], columns: int) -> None:
        self.screen = Screen(columns)
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.chdir(folder)
            os.execve(command[0], command, env | {"TERM": "xterm"})

    def type(self, keys: str) -> None:
        os.write(self.terminal, keys.encode())

    def watch(
        self, enough: Callable[[str], bool] = lambda shown: False, patience: float = 60
    ) -> str:
        """What the terminal shows when there is enough, or else when the program has ended."""
        rest = b""
        while not enough(str(self.screen)):
            assert select.select([self.terminal], [], [], patience)[0], str(self.screen)
            try:
                rest += os.read(self.terminal, 1 << 16)
            except OSError:
                # As Linux says that nobody writes any more.
                break
            text = rest.decode(errors="ignore")
            rest = rest[len(text.encode()) :]
            self.screen.feed(text)
        return str(self.screen)

    def ended(self) -> int:
        """The exit code; waits for the end."""
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
