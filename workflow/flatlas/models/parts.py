"""The loss of a model on each batch alone."""

from collections.abc import Iterator

from flatlas.models.objective import Objective


class Parts:
    """The losses of the batches, one after the other, scaled so that their mean is L.

    For batches of one size a part is the mean loss of its batch. `examples` has the number of
    examples of each batch.
    """

    def __init__(self, objective: Objective) -> None:
        """Takes a pass over the data: label weights and ignored labels determine the divisor."""
        self._objective = objective
        self.examples = [batch.examples for batch in objective.batches]
        self._divisor = objective.divisor() / len(self.examples)

    def __iter__(self) -> Iterator[Objective]:
        """The same parts in each pass."""
        for batch in self._objective.batches:
            yield self._objective.part(batch, self._divisor)
