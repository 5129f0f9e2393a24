"""How the training of one realization ended, by the stopping rules."""

import math
from dataclasses import dataclass

from flatlas.plan.training_specs import Stop
from flatlas.reasons import ALL_EPOCHS, CONVERGED, DIVERGED, EXHAUSTED, RULE_MET
from flatlas.training.evaluation import Evaluation


@dataclass
class Outcome:
    """`met_epoch` is when the rule was met, `epoch` when training ended; 0 before that.

    Both stay 0 if nothing is trained.
    """

    seed: int
    reason: str = ""
    met_epoch: int = 0
    epoch: int = 0

    @property
    def converged(self) -> bool:
        """Whether the weights are a solution: the training ended for a reason in CONVERGED."""
        return self.reason in CONVERGED

    @property
    def ended(self) -> bool:
        """Whether the member has left the stack."""
        return bool(self.reason) and self.epoch >= self.met_epoch

    def update(self, stop: Stop, epoch: int, evaluation: Evaluation) -> None:
        """Apply the stopping rule at the end of an epoch."""
        if not math.isfinite(evaluation.train_loss):
            self.reason, self.epoch = DIVERGED, epoch
            return
        if not self.met_epoch:
            self._check_rule(stop, epoch, evaluation)
        if self.met_epoch and epoch >= self.met_epoch + stop.extra_epochs:
            self.epoch = epoch

    def _check_rule(self, stop: Stop, epoch: int, evaluation: Evaluation) -> None:
        has_rule = stop.loss_below is not None or stop.zero_error
        low = stop.loss_below is None or evaluation.train_loss < stop.loss_below
        fitted = not stop.zero_error or evaluation.train_error == 0
        if has_rule and low and fitted:
            self.reason, self.met_epoch = RULE_MET, epoch
        elif epoch >= stop.epochs and not has_rule:
            self.reason, self.met_epoch = ALL_EPOCHS, epoch
        elif epoch >= stop.epochs:
            self.reason, self.epoch = EXHAUSTED, epoch
