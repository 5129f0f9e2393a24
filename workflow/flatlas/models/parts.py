"""The loss of a model on each batch alone."""

from collections.abc import Iterator

from flatlas.models.objective import Objective


class Parts:
    """The losses of the batches, one after the other, such that their mean is L.

    For batches of one size a part is the mean loss of its batch. `examples` are their numbers of
    examples.
    """

    def __init__(self, objective: Objective) -> None:
        """Takes a pass: weights and ignored labels decide what the sum of losses is divided by."""
        self._objective = objective
        self.examples = [batch.examples for batch in objective.batches]
        self._divisor = objective.divisor() / len(self.examples)

    def __iter__(self) -> Iterator[Objective]:
        """The same parts in each pass."""
        for batch in self._objective.batches:
            yield self._objective.part(batch, self._divisor)
