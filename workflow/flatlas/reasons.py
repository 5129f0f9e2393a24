"""Why a training ended, as `reason` of outcomes.csv says."""

RULE_MET = "rule met"
ALL_EPOCHS = "all epochs run"
EXHAUSTED = "epochs exhausted"
DIVERGED = "diverged"
# Of given weights, which are measured without training.
AT_CHANCE = "error near chance, perhaps a wrong normalization"
ABOVE_EXPECTED = "error far above expected, perhaps a wrong normalization"
LOSS_UNEXPECTED = "loss far from expected, perhaps a wrong normalization"
SWAPPED = "nearly all labels wrong, perhaps swapped classes"

CONVERGED = (RULE_MET, ALL_EPOCHS)
DOUBTED = (AT_CHANCE, ABOVE_EXPECTED, LOSS_UNEXPECTED, SWAPPED)
REASONS = (*CONVERGED, EXHAUSTED, DIVERGED, *DOUBTED)
