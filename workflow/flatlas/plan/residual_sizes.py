"""The sizes of the layers of residual nets, with and without pre-activation."""

from collections.abc import Iterator, Sequence

from flatlas.plan.family import LayerSize, Shape


def residual_sizes(
    stem: int, stages: Sequence[tuple[int, int]], block: str, input_shape: Shape, outputs: int
) -> Iterator[LayerSize]:
    """The layer sizes for `stages` of (blocks, channels in each block) after a `stem`."""
    channels, height, width = input_shape
    yield LayerSize(9 * channels * stem, height * width)
    channels = stem
    for stage, (blocks, inside) in enumerate(stages):
        outside = inside if block == "basic" else 4 * inside
        for number in range(blocks):
            halved, before = stage > 0 and number == 0, height * width
            if halved:
                height, width = (height + 1) // 2, (width + 1) // 2
            places = height * width
            if block == "basic":
                yield LayerSize(9 * channels * inside, places)
                yield LayerSize(9 * inside * outside, places)
            else:
                yield LayerSize(channels * inside, before)
                yield LayerSize(9 * inside * inside, places)
                yield LayerSize(inside * outside, places)
            if halved or channels != outside:
                yield LayerSize(channels * outside, places)
            channels = outside
    yield LayerSize(channels * outputs, places=1)
