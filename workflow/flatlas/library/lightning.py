"""A tracker as a Lightning callback; imported only if a callback is requested."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from flatlas.errors import FlatlasError

if TYPE_CHECKING:
    from flatlas.library.tracker import Tracker


def callback(tracker: "Tracker") -> Any:
    """A callback for the installed Lightning package."""
    for name in ("lightning.pytorch", "pytorch_lightning"):
        try:
            base: Any = import_module(name).Callback
            break
        except ModuleNotFoundError:
            continue
    else:
        raise FlatlasError("a callback needs Lightning: pip install lightning")

    class Tracking(base):
        """Measures in one process, once for each step of the optimizer."""

        last: int | None = None

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            self._measure(trainer)

        def on_train_batch_end(self, trainer: Any, *_: Any) -> None:
            self._measure(trainer)

        def _measure(self, trainer: Any) -> None:
            if trainer.is_global_zero and trainer.global_step != self.last:
                self.last = trainer.global_step
                tracker(self.last)

    return Tracking()
