"""A figure in pixels: whether all that is in it can be drawn."""

from io import BytesIO


def in_pixels(figure):
    """Draw a figure once, as coarse as can be, each panel where it stands.

    To lay panels out takes longer than to draw them, and is done where a figure is saved whole.
    """
    figure.set_layout_engine("none")
    figure.savefig(BytesIO(), dpi=20)


def laid_out_in_pixels(figure):
    """The same, laid out as for a reader."""
    figure.savefig(BytesIO(), dpi=20)
