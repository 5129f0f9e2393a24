"""Tables, numbers and durations as people read them."""

from collections.abc import Sequence
from math import inf, isfinite

from flatlas.minus import with_minus


def aligned(rows: Sequence[tuple[str, ...]]) -> str:
    """Columns below each other: the first to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)


def short(number: float) -> str:
    """Three digits of a number, as in the explorer: 2000, 0.0123, 1.5e−5; a dash for none."""
    if not isfinite(number):
        return "–"
    if number == 0 or 1e-4 <= abs(number) < 1e5:
        text = f"{float(f'{number:.3g}'):g}"
    else:
        mantissa, exponent = f"{number:.2e}".split("e")
        text = f"{float(mantissa):g}e{int(exponent)}"
    return with_minus(text)


def duration(seconds: float) -> str:
    """Seconds in readable units: 40 s, 12 min, 3.5 h; a dash for none."""
    if seconds == 0:
        return "–"
    for unit, size, most in (("s", 1.0, 100.0), ("min", 60.0, 100.0), ("h", 3600.0, inf)):
        if seconds < most * size:
            count = seconds / size
            return f"{count:.1f} {unit}" if count < 10 else f"{count:.0f} {unit}"
    raise AssertionError("an infinite time")
