"""A figure in pixels, to see whether everything in it can be drawn."""


def in_pixels(figure):
    """Draw a figure once at low resolution, without laying it out.

    Laying panels out takes longer than drawing them.
    """
    figure.set_layout_engine("none")
    laid_out_in_pixels(figure)


def laid_out_in_pixels(figure):
    """Lay a figure out and draw it at low resolution, without the hundreds of minor ticks.

    Labels and spines have fixed positions: keeping them clear of the ticks doubles the time.
    """
    for ax in figure.axes:
        ax.minorticks_off()
        ax.xaxis.set_label_coords(0.5, -0.2)
        ax.yaxis.set_label_coords(-0.2, 0.5)
        for spine in ax.spines.values():
            spine.set_in_layout(False)
    figure.set_dpi(20)
    figure.canvas.draw()
