"""The columns of every table that no measure declares."""

from flatlas.plan.columns import LOSS, Column, Declared, columns
from flatlas.reasons import REASONS

SEED = Column(int, "the realization")
CLAIM = Column(str, "`<study>_<figure>.<claim>`")
SAYS = Column(str, "the claim in our words")
WHOSE = Column(str, "`paper`; `flatlas` if the question is ours")

# The first columns in every table of a measure.
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
    reason=(str, " · ".join(f"`{reason}`" for reason in REASONS)),
    met_epoch=(int, "the epoch that met the stopping rule; 0 if none did"),
    epoch=(int, "the last epoch"),
    converged=(
        bool,
        "whether the rule was met, or there is none and all epochs ran; `False` for given weights "
        "whose error or loss is in doubt",
    ),
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
    units=(float, "sizes of its jobs, summed; with other realizations or images it differs"),
    peak_mib=(float, "largest memory of a job that ran", "MiB"),
)

COSTS_BY_MEASURE = columns(
    measure=(str, "the measure, or `train`, `record`, `kernel`, `data`, …"),
    study=(str, "the study; `all`: every job once"),
    **_SUMS,
)

MY_MODEL = columns(
    **{"net.weights": (str, "the file of the network's weights")},
    seed=SEED,
    quantity=(str, "an error or loss on S or E, or a measure, named as its column"),
    value=(float, "its value"),
    error=(float, "its standard error or residual; empty if it has none"),
    settled=(bool, "`False` if a search for it did not converge"),
)

_SETTINGS: dict[str, Declared] = {
    "data.source": (str, "where the images are from"),
    "data.positive": (str, "the classes with label 1; empty unless the task is binary"),
    "data.train_size": (int, "training images without the attack set, wrong labels included"),
    "data.test_size": (int, "images of E, the test images"),
    "data.label_noise": (float, "share of the training labels that are wrong"),
    "data.attack_size": (int, "further training images, all with wrong labels"),
    "outputs": (int, "outputs of the network; 1: logistic loss, more: cross-entropy"),
    "net.family": (str, "the family of networks"),
    "width": (int, "neurons of the first hidden layer"),
    "depth": (int, "number of hidden layers"),
    "net.init.scheme": (str, "how the initial weights are drawn"),
    "net.init.scale": (float, "factor on that, of schemes that have one"),
    "net.init.weight_std": (float, "its standard deviation times √n_in, of `scaled_normal`"),
    "optimizer.name": (str, "the optimizer"),
    "optimizer.lr": (float, "its learning rate"),
    "optimizer.radius": (float, "ρ, the radius of `sam`", "w"),
    "optimizer.adaptive": (bool, "whether `sam` is ASAM, whose radius has no unit"),
    "batch": (int, "images in a minibatch; all training images with `full`"),
    "penalty.coefficient": (float, "β, the weight decay"),
    "penalty.form": (str, "what β multiplies"),
    "stop.loss_below": (float, "the loss on S at which a network counts as trained", "nat"),
    "stop.zero_error": (bool, "whether no image of S may be misclassified then"),
}
NETWORK_SETTINGS = columns(**_SETTINGS)
"""A network's settings in the atlas' measure table, by dotted keys of a run."""

ATLAS_MINE = columns(
    net=(str, "the file of the network's weights"),
    measure=(str, "the measure, as a column of the measure table is named, or `test_error`"),
    value=(float, "its value"),
    error=(float, "its standard error or residual; empty if it has none"),
    converged=(bool, "`False` if a search for it did not converge"),
    percentile=(float, "share of comparable networks of the atlas with a smaller value", "%"),
    networks=(int, "how many these are"),
    why=(str, "why it is not compared; empty if it is"),
)

NETWORKS = {
    **columns(
        study=(str, "the study that trained the network"),
        axes=(str, "the sweeps of the atlas that have it, joined by `;`: what each varies"),
        run=(str, "the folder in results/runs"),
        seed=SEED,
        at=(str, "`met`: when the stopping rule is met; `met+100`: 100 epochs later"),
    ),
    **NETWORK_SETTINGS,
    **columns(
        epochs=(int, "epochs trained until then"),
        train_error=(float, "share of S that is misclassified"),
        test_error=(float, "share of E that is misclassified"),
        train_loss=LOSS,
        test_loss=(float, "mean loss on E", "nat"),
        gap=(float, "the generalization gap, test_error − train_error"),
    ),
}
"""The columns of the atlas' measure table before its measures."""

FILES = {
    "results/data/{subsets,attack_sets,label_noise,functions}/<id>/samples.parquet": SAMPLES,
    "results/data/functions/<id>/functions.parquet": FUNCTIONS,
    "results/{runs,recordings}/<id>/history.parquet": HISTORY,
    "results/{runs,recordings}/<id>/outcomes.csv": OUTCOMES,
    "results/{runs,recordings}/<id>/times.csv": TIMES,
    "results/<preset>/<study>/<figure>.claims.csv": CLAIMS,
    "results/<preset>/{,<study>/}scorecard.csv": SCORECARD,
    "docs/gallery/<study>/scorecard.csv": GALLERY,
    "results/<preset>/my_model/page.csv": MY_MODEL,
    "results/<preset>/atlas_mine/place.csv": ATLAS_MINE,
    "results/comparison.csv": COMPARISON,
    "results/<preset>/costs.csv": COSTS,
    "results/<preset>/costs_by_measure.csv": COSTS_BY_MEASURE,
}
"""By their paths."""

# `*` stands for the name of a measure or of another column.
_POINTS: dict[str, Declared] = {
    "sweep": (str, "the sweep of the study; a run that two sweeps share has rows of both"),
    "run": (str, "the folder in results/runs; that of the first of several groups of realizations"),
    "panel": (str, "the letter of the panel"),
    "quantity": (str, "what the row is about: the name of a column, or of a fit"),
    "value": (float, "its value"),
    "mean": (float, "mean of the quantity over realizations"),
    "sd": (float, "its standard deviation over realizations"),
    "realizations": (int, "number of realizations; `converged` counts those that met the rule"),
    "low": (float, "lower end: mean − sd; of a fit or coefficient, of its interval"),
    "high": (float, "upper end"),
    "table": (str, "the table of the measure that the row is from"),
    # Schematics, without networks.
    "w": (float, "the one weight of a schematic"),
    "w_1": (float, "first weight of a schematic"),
    "w_2": (float, "second weight of a schematic"),
    "activity": (float, "position between x (0) and x′ (1)"),
    "x": (float, "the input of a schematic"),
    "solution": (str, "which of the two solutions of a schematic"),
    "meaning": (str, "which of the four things that are called a net's function"),
    "basin": (str, "the function that gradient descent ends in"),
    "basin_volume": (float, "share of the weights that end there"),
    "volume": (float, "V(f), share of the weights that express f"),
    "least": (float, "smallest sharpness in V(f)"),
    "largest": (float, "largest sharpness in V(f)"),
    # duality
    "batch": (int, "the batch size B"),
    "layer": (str, "the layer"),
    "name": (str, "symbol and value of what is varied"),
    "quantile": (float, "share of the pairs with a smaller residual"),
    "relative_gap": (float, "ΔL, relative to that with all test images"),
    "sigma_g_squared": (float, "σ_g²", "nat²/w²"),
    "test_error_percent": (float, "test error", "%"),
    # annealing
    "snapshots": (str, "the recorded layer"),
    "from_rank": (int, "first rank of a fit"),
    "to_rank": (int, "last rank of a fit"),
    "first_loss": (float, "training loss at the first recorded step", "nat"),
    "threshold": (float, "0.008 F_1i", "w"),
    "total": (float, "ε1 + ε2"),
    "steepness": (float, "s = −d ln L / d ln t"),
    "steepest": (float, "where the loss falls most steeply", "epochs"),
    "begins": (float, "where the exploration phase begins", "epochs"),
    # atlas; each measure has the sign with which a larger value should mean a larger gap
    "study": (str, "the study of the run"),
    "measure": (str, "the measure, as a column of atlas_fig4 is named"),
    "baseline": (bool, "whether it is one of the four baselines"),
    "pairs": (str, "which pairs of networks; as a column of a measure, how many pairs"),
    "runs": (int, "how many runs it was measured on"),
    "tau": (float, "Kendall's coefficient with the generalization gap or test error"),
    "tau_low": (float, "lower end of its interval"),
    "tau_high": (float, "upper end of its interval"),
    "size_of_tau": (float, "its size"),
    "axis": (str, "what is varied"),
    "values": (int, "how many values it has"),
    "count": (int, "how many networks, or pairs of them"),
    "environment": (str, "what changes: an axis, or a setting from one value to another"),
    "right": (float, "share of pairs in which the measure moves with the gap"),
    "plain_*": (float, "Kendall's coefficient along this axis and the ends of its interval"),
    "given_*": (float, "the same, given the four baselines"),
    "change": (str, "what happens to the network"),
    "before": (float, "the measure before that"),
    "after": (float, "the measure after that"),
    "log10_factor": (float, "log10 of after / before"),
    "seconds": (float, "time for one network, in the median run", "s"),
    "epochs": (float, "epochs of training until then", "epochs"),
    "norm_sharpness": (float, "sharpness times ‖w‖²"),
    "pca_flatness": (float, "minus the flatness along principal directions"),
    "prior": (float, "−log10 P(f)"),
    "kl_regret": (float, "local regret in a KL-ball", "√nat"),
    "product": (float, "geometric mean of the positive among the `top` eigenvalues", "nat/w²"),
    "margin": (float, "minus the normalized margin that a tenth of S falls below"),
    "pac_bayes": (float, "minus the σ of w + σu", "w"),
    "pac_bayes_magnitude": (float, "minus the σ of w + σ|w| ⊙ u"),
    # prior
    "attack_size": (int, "images with a wrong label that the run has learnt besides S"),
    "labels": (str, "whether the run has learnt wrong labels"),
    "overtraining": (int, "time since zero error", "epochs"),
    "since_zero_error": (float, "time since zero error", "epochs"),
    "since_scaling": (float, "time since the α-scaling", "epochs"),
    "accuracy": (float, "share of E that is classified correctly", "%"),
    "bound": (float, "bound of Eq. 4 on the test error, as a share"),
    "log10": (float, "log10 of the quantity"),
    "log10_p_hard": (float, "log10 P(f) with the hard sign"),
    "error_*": (float, "log10 P(f) by that estimate minus the exact one"),
    "flatness": (float, "−log10 of the sharpness"),
    "*_flatness": (float, "−log10 of the sharpness by another search, or of a Hessian norm"),
    "*_sharpness": (float, "the sharpness by another search", "%"),
    "*_rest": (float, "the part of that sharpness beyond first order", "%"),
    "*_apart": (float, "distance from the mean over optimizers"),
    # false_friend
    "classes": (int, "number of classes"),
    "kind": (str, "the kind of network"),
    "*_product": (float, "a norm of the Hessian times ‖w‖²"),
    "error": (float, "test error", "%"),
    # mystery
    "over_epsilon": (float, "true_regret / ε", "nat/w"),
    "damped_*": (float, "the regret and its factors in the KL-ball of the largest damping"),
    "kl_*": (float, "the same without damping"),
    "*_contrast": (float, "contrastive flatness"),
    "*_contrast_error": (float, "its standard error"),
    "*_of_mean": (float, "the flatness of the loss on S"),
    "*_relative": (float, "a column, relative to its value at α = 1"),
    # searches
    "settled": (bool, "whether the search converged"),
    "*_settled": (bool, "whether the search for these columns converged"),
    "*_converged": (bool, "the same"),
}
POINTS = columns(**_POINTS)
