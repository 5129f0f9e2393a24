"""A claim as a strip: where its criterion holds, and where the number lies with its interval."""

from math import isfinite

WIDTH, HEIGHT, MARGIN = 150, 18, 6


def strip(
    holds: tuple[float, float], value: float, interval: tuple[float, float], shade: str
) -> str:
    """An SVG picture; nothing where there is no number.

    The criterion is a band, which runs out of the picture where it has no end.
    """
    if not isfinite(value):
        return ""
    low, high = (end if isfinite(end) else value for end in interval)
    shown = [value, low, high, *filter(isfinite, holds)]
    start, end = min(shown), max(shown)
    scale = (WIDTH - 4 * MARGIN) / (end - start or 1.0)

    def x(at: float) -> float:
        return min(max(2 * MARGIN + scale * (at - start), 0.0), float(WIDTH))

    middle = HEIGHT / 2
    left, right = x(holds[0]), x(holds[1])
    return (
        f'<svg class="strip" width="{WIDTH}" height="{HEIGHT}" role="img" aria-hidden="true">'
        f'<line x1="0" x2="{WIDTH}" y1="{middle}" y2="{middle}" stroke="#ccc"/>'
        f'<rect x="{left:.1f}" width="{right - left:.1f}" height="{HEIGHT}" fill="#cfdbe6"/>'
        f'<line x1="{x(low):.1f}" x2="{x(high):.1f}" y1="{middle}" y2="{middle}"'
        f' stroke="{shade}" stroke-width="2.5"/>'
        f'<circle cx="{x(value):.1f}" cy="{middle}" r="4" fill="{shade}"/></svg>'
    )
