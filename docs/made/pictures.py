"""Pictures of few colours, which are small files."""

from PIL import Image


def with_few_colours(picture: Image.Image, count: int) -> Image.Image:
    """The picture in `count` colours, of which none is far from its own."""
    # Median cut, the default, merges rare hues: a blue dot of a legend among greens became teal.
    return picture.convert("RGB").quantize(
        count, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
    )
