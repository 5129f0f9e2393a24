"""The columns of every table that no measure declares."""

from flatlas.plan.columns import Column, columns

SEED = Column(int, "the realization")
CLAIM = Column(str, "`<study>_<figure>.<claim>`")
SAYS = Column(str, "the claim in our words")
WHOSE = Column(str, "`paper`; `flatlas` if the question is ours")

# The first columns of each table of a measure.
PLACE = columns(
    seed=SEED,
    at=(str, "the moment of the training, as the study names it: `final`, `50`, `met+10`"),
    epoch=(int, "the epoch of that moment"),
)

SAMPLES = columns(
    seed=(int, "the realization that sees the image; all of them if only one is listed"),
    part=(str, "`train` (S), `attack` or `test` (E)"),
    index=(int, "place among the source's training images; of `test`, among its test images"),
    label=(int, "the label that the network learns, or is tested on"),
    true_label=(int, "the right label"),
)

FUNCTIONS = columns(
    rank=(int, "rank by count, from 1; realization rank − 1 learns the function"),
    function=(str, "the function on all inputs, in hexadecimal"),
    count=(int, "random networks that express it"),
    draws=(int, "random networks drawn"),
    probability=(float, "count / draws, an estimate of P(f)"),
    standard_error=(float, "standard error of the probability"),
)

HISTORY = columns(
    epoch=(int, "0 before training"),
    seed=SEED,
    train_loss=(float, "mean loss on S, the training images with their true label", "nat"),
    train_error=(float, "share of S that is misclassified"),
    test_loss=(float, "mean loss on E", "nat"),
    test_error=(float, "share of E that is misclassified"),
    weight_norm=(float, "‖w‖ of all weights and biases", "w"),
)

OUTCOMES = columns(
    seed=SEED,
    reason=(str, "`rule met`, `all epochs run`, `epochs exhausted` or `diverged`"),
    met_epoch=(int, "the epoch that met the stopping rule; 0 if none did"),
    epoch=(int, "the last epoch"),
    converged=(bool, "whether the rule was met, or there is none and all epochs ran"),
)

TIMES = columns(epoch=(int, "from 1"), seconds=(float, "wall time of the epoch", "s"))

CLAIMS = columns(
    claim=CLAIM,
    says=SAYS,
    whose=WHOSE,
    quantity=(str, "what the number is"),
    criterion=(str, "where it must lie"),
    holds_from=(float, "lower end of that"),
    holds_to=(float, "upper end of that"),
    paper=(str, "the paper's number, if it gives one"),
    value=(float, "our number"),
    low=(float, "lower end of its interval"),
    high=(float, "upper end of its interval"),
    verdict=(str, "`reproduced`, `not reproduced`, `undecided` or, if not drawn, `not run`"),
    note=(str, "what limits the verdict"),
)

SCORECARD = CLAIMS | columns(
    study=(str, "the study"),
    figure=(str, "the figure"),
    scale=(str, "the preset"),
    picture=(str, "path of the picture from the scorecard's folder"),
)

GALLERY = CLAIMS | columns(preset=(str, "the preset that the figure was drawn at"))

_COMPARED = ("criterion", "verdict", "value", "low", "high")
COMPARISON = {
    **columns(claim=CLAIM, says=SAYS, whose=WHOSE),
    **{f"{name}_before": CLAIMS[name] for name in _COMPARED},
    **{f"{name}_after": CLAIMS[name] for name in _COMPARED},
    **columns(change=(str, "how the two differ; empty if they agree")),
}

_SUMS = columns(
    jobs=(int, "jobs that it needs"),
    made=(int, "how many of these have run"),
    measured_seconds=(float, "time that they took, summed", "s"),
    estimated_seconds=(float, "time of the others, as estimated, summed", "s"),
    without_estimate=(int, "jobs without an estimate"),
)

COSTS = columns(
    target=(str, "the figure or study; `all`: every job once"),
    **_SUMS,
    peak_mib=(float, "largest memory of a job that ran", "MiB"),
)

COSTS_BY_MEASURE = columns(
    measure=(str, "the measure, or `train`, `record`, `kernel`, `data`, …"),
    study=(str, "the study; `all`: every job once"),
    **_SUMS,
)

FILES = {
    "results/data/{subsets,attack_sets,label_noise,functions}/<id>/samples.parquet": SAMPLES,
    "results/data/functions/<id>/functions.parquet": FUNCTIONS,
    "results/{runs,recordings}/<id>/history.parquet": HISTORY,
    "results/{runs,recordings}/<id>/outcomes.csv": OUTCOMES,
    "results/{runs,recordings}/<id>/times.csv": TIMES,
    "results/<preset>/<study>/<figure>.claims.csv": CLAIMS,
    "results/<preset>/{,<study>/}scorecard.csv": SCORECARD,
    "docs/gallery/<study>/scorecard.csv": GALLERY,
    "results/comparison.csv": COMPARISON,
    "results/<preset>/costs.csv": COSTS,
    "results/<preset>/costs_by_measure.csv": COSTS_BY_MEASURE,
}
"""By their paths."""
