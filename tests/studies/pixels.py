"""A figure in pixels: whether all that is in it can be drawn."""


def in_pixels(figure):
    """Draw a figure once, as coarse as can be, each panel where it stands.

    To lay panels out takes longer than to draw them.
    """
    figure.set_layout_engine("none")
    laid_out_in_pixels(figure)


def laid_out_in_pixels(figure):
    """The same, laid out as for a reader, without the hundreds of minor ticks.

    Labels and spines keep clear of the ticks no more: to find them takes as long again.
    """
    for ax in figure.axes:
        ax.minorticks_off()
        ax.xaxis.set_label_coords(0.5, -0.2)
        ax.yaxis.set_label_coords(-0.2, 0.5)
        for spine in ax.spines.values():
            spine.set_in_layout(False)
    figure.set_dpi(20)
    figure.canvas.draw()
