"""A figure in pixels: whether all that is in it can be drawn."""


def in_pixels(figure):
    """Draw a figure once, as coarse as can be, each panel where it stands.

    To lay panels out takes longer than to draw them.
    """
    figure.set_layout_engine("none")
    laid_out_in_pixels(figure)


def laid_out_in_pixels(figure):
    """The same, laid out as for a reader, without the hundreds of minor ticks."""
    for ax in figure.axes:
        ax.minorticks_off()
    figure.set_dpi(20)
    figure.canvas.draw()
