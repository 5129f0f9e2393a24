"""The error for a mistake names its file, key and value, what is allowed, and the nearest name."""

import pytest
import small_configuration
from shipped import SHIPPED
from small_configuration import CONFIG, PRESETS, STUDY, Removed, write

from flatlas.errors import FlatlasError
from flatlas.plan import paths
from flatlas.plan.resolve import resolve

# Which argument of `plan_of` changes which file, how keys begin there, and how messages name it.
FILES = {
    "study": ("", "config/studies/flat.yaml"),
    "preset": ("studies.flat.", "config/presets/small.yaml"),
    "user": ("studies.flat.", "config/config.yaml (or --configfile, --config)"),
}
INIT = "runs.base.net.init"
HIDDEN = "measures.hidden"
CLASSES = "0, 1, 2, 3, 4, 5, 6, 7, 8, 9."

# A key and its value, how the message goes on after that key, what it says is allowed, and the
# nearest name.
MISTAKES = [
    ("runs.base.bacth", 5, " is not a key", "schedule, snapshots, start, stop", "batch"),
    ("runz", {}, " is not a key", "sweeps, title", "runs"),
    ("runs.base.optimizer.rl", 1, " is not a key", "lr, name.", "lr"),
    (INIT, {"scheme": "he_normal", "bias_sdt": 1}, ".bias_sdt is not", "bias_std, s", "bias_std"),
    ("sweeps.alpha.gird", {}, " is not a key", "run", "grid"),
    ("measures.hidden.layr", "fc2", " is not a key", "directions", "layer"),
    ("measures.hidden.layer", "f2", " names 'f2'", "fc1, fc2", "fc2"),
    ("runs.base.optimizer.lr", -1, " is -1", "greater than 0", None),
    ("runs.base.optimizer.lr", "fast", " is 'fast'", "a valid number", None),
    ("runs.base.batch", "ful", " is 'ful'", "full.", "full"),
    ("runs.base.stop.epochs", None, " is None", "integer", None),
    ("runs.base.net.hidden", [4, 0], ".1 is 0", "greater than 0", None),
    ("runs.base.net.hidden", 5, " is 5", "a list", None),
    ("runs.base.schedule.kind", "stp", " is 'stp'", "constant, step, linear_tail.", "step"),
    ("measures.hidden.directions", "hessain", " is 'hessain'", "hessian, fisher.", "hessian"),
    ("runs.base.optimizer.name", "sdg", " is 'sdg'", "momentum, adam", "sgd"),
    (INIT, {"scheme": "xavier"}, ".scheme is 'xavier'", "he_normal, scaled_", "xavier_uniform"),
    ("runs.base.optimizer", "sgd", " is 'sgd'", "a mapping of keys to values", None),
    ("runs", None, " is None", "a mapping of keys to values", None),
    ("runs.base.data.source", "dgits", " names 'dgits'", "mnist, digits, boolean.", "digits"),
    ("sweeps.alpha.run", "bas", " names 'bas'", "base.", "base"),
    ("figures.fig1.sweeps", ["alhpa"], " names 'alhpa'", "alpha, batch.", "alpha"),
    ("figures.fig1.measures", ["hiden"], " names 'hiden'", "hidden.", "hidden"),
    ("measures.hidden.measure", "dualty", " names 'dualty'", "duality, ", "duality"),
    ("measures.hidden.measure", ["duality"], " names ", "duality, ", "duality"),
    ("measures.hidden.at", ["end"], ".0 is 'end'", "final", None),
    ("sweeps.alpha.grid", {"optimizer.rl": [1]}, ".optimizer.rl is not a key", "lr, name.", "lr"),
    ("sweeps.alpha.grid", {"optimiser.lr": [1]}, ".optimiser.lr is not", "net, o", "optimizer"),
    ("sweeps.batch.grid.batch", [5, 0], " is 0", "greater than 0", None),
    ("sweeps.batch.grid", {"net.hidden.0": [5]}, ".net.hidden.0 is {'0': 5}", "a list; a s", None),
    ("sweeps.batch.grid", {"data.source": ["dgits"]}, ".data.source names", "boolean.", "digits"),
    ("sweeps.batch.grid.batch", [], " is []", "at least 1 value.", None),
    ("runs.base.data.classes", [1], " is [1]", "at least 2 values.", None),
    ("measures.hidden.at", [], " is []", "at least 1 value.", None),
    ("sweeps.batch.grid.batch", 5, " is 5", "a list, as in [5]", None),
    ("sweeps.alpha.grid", {"optimizer": {"lr": [1]}}, ".optimizer is", "optimizer.lr: […]", None),
    (
        "sweeps.alpha.grid",
        {"optimizer": {"name": ["sgd"]}},
        ".optimizer is",
        "[{name: …}, …]",
        None,
    ),
    ("sweeps.batch.grid.batch", "5,10", " is '5,10'", "a list, as in [5, 10]", None),
    ("runs.base.checkpoints", None, " is None", "a list, as in []", None),
    ("runs.base.stop.epochs", "1e3", " is '1e3'", "a valid integer, as in 1000.", None),
    ("runs.base.stop.epochs", "1.5", " is '1.5'", "a valid integer.", None),
    ("measures.hidden.at", [-1], ".0 is -1", "greater than or equal to 0, met+10", None),
    ("sweeps.spare", {"run": "base", "grid": {"batch": [0]}}, ".grid.batch is 0", "greater", None),
]
# The same for the second of two points of a sweep.
MISTAKES += [
    ("sweeps.alpha", {"run": "base", "points": [{"batch": 5}, point], "grid": None}, *more)
    for point, *more in [
        ({"bacth": 6}, ".points.1.bacth is not a key", "snapshots, start, stop", "batch"),
        ({"optimizer": {"name": "adam", "rl": 1}}, ".points.1.optimizer.rl is", "lr, n", "lr"),
        ({"batch": 0}, ".points.1.batch is 0", "greater than 0", None),
    ]
]

CONVOLUTIONAL = {"family": "convolutional", "stages": [{"channels": 2, "kernel": 3}]}
STAGE = {"channels": 1, "kernel": 3}
SIZES = {"per_class": None, "test_size": None}
# Settings of the run that do not fit together, and how the message goes on after its key.
CONFLICTS = [
    ({"schedule": {"kind": "linear_tail", "hold": 0.9, "land": 0.5}}, ".schedule: land is 0.5"),
    ({"schedule": {"kind": "step"}}, ".schedule: the epochs of the steps"),
    ({"schedule": {"kind": "linear_tail", "epochs": [3]}}, ".schedule: the epochs of the steps"),
    ({"schedule": {"factor": 0.5}}, ".schedule: factor has no effect with kind: constant"),
    ({"schedule": {"hold": 0.6, "land": 0.8}}, ".schedule: hold has no effect with kind: const"),
    (
        {"schedule": {"kind": "step", "epochs": [3], "floor": 0.5}},
        ".schedule: floor has no effect with kind: step",
    ),
    (
        {"optimizer": {"name": "momentum", "lr": 0.1, "momentum": 0, "nesterov": True}},
        ".optimizer.momentum: nesterov: true needs a momentum above 0",
    ),
    ({"optimizer": {"name": "adam", "betas": [0.9, 1 - 2**-25]}}, ".optimizer.betas.1: float32"),
    ({"average": {"from_epoch": 8}}, ": average.from_epoch is after the last"),
    ({"checkpoints": [0, 10**6]}, ": checkpoints has 1000000, after the last epoch, "),
    *(
        ({"schedule": {"kind": "step", "epochs": [3, late]}}, f": schedule.epochs has {late}")
        for late in (7, 8)
    ),
    ({"precision": "bfloat16"}, ": precision is only for nets with convolutions"),
    (
        {"net.dropout": 0.1, "net.dropout_after": ["fc3"]},
        ".net: dropout_after names 'fc3'. Allowed: fc1, fc2",
    ),
    ({"net.dropout_after": ["fc1"]}, ".net: dropout_after is given, but dropout is 0"),
    (
        {"net.dropout": 0.1, "net.dropout_after": ["fc2", "fc1"]},
        ".net: dropout_after names all hidden layers",
    ),
    ({"net.hidden": [], "net.dropout": 0.1}, ".net: dropout is 0.1"),
    *(
        (
            {
                "net": CONVOLUTIONAL
                | {"stages": [STAGE, STAGE | {"pool": 5}], "global_pool": global_pool}
            },
            ".net leaves nothing of an image of 8 x 8",
        )
        for global_pool in (False, True)
    ),
    *(
        ({"net": CONVOLUTIONAL | {"stages": [stage | {"skip": True}]}}, ".net.stages.0 can't skip")
        for stage in (STAGE, STAGE | {"padding": 1, "channels": 2}, STAGE | {"padding": 2})
    ),
    (
        {
            "net": CONVOLUTIONAL | {"stages": [{"channels": 3, "kernel": 1}]},
            "data": {"source": "boolean", "functions": {"draws": 100}} | SIZES,
        },
        ".data.functions are counted only for dense nets",
    ),
    ({"net": CONVOLUTIONAL | {"dropout": 0.5}}, ".net: dropout is 0.5"),
    ({"net.init": {"scheme": "scaled_normal", "bias_std": 0.5}}, ".net: init.bias_std is 0.5"),
    ({"data.train_size": 5}, ".data: set exactly one of per_class and"),
    ({"data.label_noise": 0.1, "data.attack_size": 5}, ".data: label_noise and attack_size excl"),
    *(
        ({f"data.{key}": value, "data.only": [3]}, ".data.only is [3], but wrong labels need two")
        for key, value in (("label_noise", 0.5), ("attack_size", 1))
    ),
    ({"data.label_noise": 4e-3}, ".data.label_noise is 0.004, which makes 0 of 100 labels wrong"),
    ({"data.label_noise": 0.996}, ".data.label_noise is 0.996, which makes 100 of 100 labels"),
    ({"data.functions": {"draws": 100}}, ".data: functions exclude per_class, test_size"),
    (
        {"data": {"source": "digits", "functions": {"draws": 9}} | SIZES},
        ".data: a source of kind b",
    ),
    ({"data": {"source": "boolean", "per_class": 2, "test_size": 2}}, ".data: a source of kind b"),
    ({"snapshots": "fc2"}, ": snapshots are taken in stop.extra_epochs"),
    *(
        ({"snapshots": "fc2", "stop.extra_epochs": 3, **other}, ": snapshots end at the solution")
        for other in (
            {"optimizer": {"name": "entropy_sgd", "lr": 1.0}},
            {"average": {"from_epoch": 1}},
            {"rescaling": {"layer": "fc1", "factor": 2.0, "after": 1}},
        )
    ),
    ({"stop": {"epochs": 0}, "overtraining": [0]}, ": with stop.epochs 0 no rule is met"),
    # What YAML makes of `yes` and `on`.
    ({"batch": True}, ".batch is True."),
    ({"optimizer.lr": True}, ".optimizer.lr is True."),
    ({"data.classes": [3, 10]}, f".data.classes names '10'. Allowed: {CLASSES}"),
    ({"data.positive": [3, 10]}, f".data.positive names '10'. Allowed: {CLASSES}"),
    ({"data.classes": [3]}, ".data.classes is [3]."),
    ({"data.classes": []}, ".data.classes is []."),
    ({"data.classes": [1, 1]}, ".data.classes: list each only once, not 1, 1"),
    (
        {"schedule": {"kind": "step", "epochs": [5, 3, 3]}},
        ".schedule.epochs: list each only once, not 5, 3, 3",
    ),
    ({"frozen": ["fc1", "fc2", "fc1"]}, ".frozen: list each only once, not fc1, fc2, fc1"),
    ({"start": {"run": "base", "fresh": ["fc1"] * 2}}, ".start.fresh: list each only once"),
    ({"checkpoints": [5, "0..10/5"]}, ".checkpoints: list each only once, not 5, 0, 5, 10"),
    ({"data.positive": []}, ".data.positive is []."),
    ({"data.positive": [1], "data.classes": [2, 3]}, ".data.positive names '1'. Allowed: 2, 3."),
    ({"data.positive": [3, 2], "data.classes": [2, 3]}, ".data.positive names all classes"),
    ({"data.positive": [*range(10)]}, ".data.positive names all classes"),
    *(
        ({"data.only": [5, 6], "data.positive": positive}, ".data.positive names ")
        for positive in ([5, 6, 7, 8, 9], [6, 5], [7, 8])
    ),
    ({"data.only": []}, ".data.only is []."),
    ({"data.only": [1], "data.classes": [2, 3]}, ".data.only names '1'. Allowed: 2, 3."),
]
CONFLICTS = [
    ({f"runs.base.{key}": value for key, value in changes.items()}, f"runs.base{said}")
    for changes, said in CONFLICTS
]
CONFLICTS += [
    ({"sweeps.alpha.points": [{}]}, "sweeps.alpha: set exactly one of grid and points"),
    ({"sweeps.more": {"run": "base"}}, "sweeps.more: set exactly one of grid and points"),
]

SCALING = {"measure": "norm_scaling", "factors": [1, 2]}
# Measures that the run cannot give, and how the message goes on after the key of the measure.
MEASURES = [
    (
        {"measure": "test_images", "layer": "fc2", "sizes": [9, 21]},
        ".sizes asks for 21 test images",
    ),
    ({"measure": "scale_invariance", "layer": "fc3", "factors": [1]}, ".layer is 'fc3', which has"),
    ({"measure": "scale_invariance", "layer": "fc2", "factors": [2]}, ".factors: "),
    *(
        ({"measure": name, "batch": 101, **more}, ".batch is 101, but a realization has 100 ")
        for name, more in {
            "minibatch_noise": {"layer": "fc2"},
            "regret": {},
            "true_regret": {"radii": [0.1]},
            "regret_slice": {"radius": 0.1},
            "contrastive_flatness": {"box": 0.1},
        }.items()
    ),
    ({"measure": "duality", "layer": "fc2", "sharp": 13}, ".sharp is 13, but 'fc2' has 12 direc"),
    ({"measure": "boolean_prior"}, ".measure is only for functions"),
    ({"measure": "scaled_shift", "layer": "fc2", "scales": [1, 1]}, ".scales: list each only once"),
    (
        {"measure": "hessian", "tolerance": 1e-3, "precision": "float32"},
        ".precision is only for nets wit",
    ),
    ({"measure": "hessian", "tolerance": 1e-5, "precision": "float32"}, ": in float32 products"),
]
# Mistakes that are tried in the study alone; `Removed` removes a key.
IN_THE_STUDY = [
    ({"title": Removed}, "title is missing"),
    ({"runs.base.batch": Removed}, "runs.base.batch is missing"),
    ({"runs.base.optimizer.lr": Removed}, "runs.base.optimizer.lr is missing"),
    ({"runs.base.optimizer.name": Removed}, "runs.base.optimizer.name is missing"),
    ({f"{HIDDEN}.measure": Removed}, f"{HIDDEN}.measure is missing"),
    ({f"{HIDDEN}.layer": Removed}, f"{HIDDEN}.layer is missing"),
    ({"runs.base.data.per_class": Removed}, "runs.base.data: set exactly one of per_class and t"),
    ({"runs.base.data.test_size": Removed}, "runs.base.data: set test_size"),
    (
        {"runs.base.snapshots": "fc9", "runs.base.stop.extra_epochs": 1},
        "runs.base.snapshots names 'fc9'. Allowed: fc1, fc2, fc3.",
    ),
    *(({HIDDEN: measure}, HIDDEN + said) for measure, said in MEASURES),
    (
        {HIDDEN: SCALING, "runs.base.net.bias": True},
        f"{HIDDEN}.measure is only for dense nets",
    ),
    (
        {HIDDEN: SCALING, "runs.base.data.positive": [1]},
        f"{HIDDEN}.measure is only for nets with",
    ),
    (
        {
            HIDDEN: {"measure": "survival", "batch": 101},
            "runs.base.data.positive": [1],
            "runs.base.net.init.scheme": "he_normal",
        },
        f"{HIDDEN}.batch is 101, but a realization has 100 ",
    ),
    (
        {HIDDEN: {"measure": "adaptive_sharpness", "p": "3"}},
        f"{HIDDEN}.p is 3. Allowed: 2, infinity.",
    ),
    # The regret is of images with their true labels.
    *(
        (
            {HIDDEN: {"measure": "regret", "batch": batch}, f"runs.base.data.{key}": value},
            f"{HIDDEN}.batch is {batch}, but a realization has {batch - 1} ",
        )
        for key, value, batch in (("label_noise", 0.4, 61), ("attack_size", 50, 101))
    ),
    # No figure takes this measure.
    ({"measures.spare": {"measure": "dualty"}}, "measures.spare.measure names 'dualty'."),
    ({"measures.spare": {"layer": "fc2"}}, "measures.spare.measure is missing."),
    (
        {"measures.spare": {"measure": "duality", "layer": "fc2", "sharp": 0}},
        "measures.spare.sharp is 0.",
    ),
    ({"figures.fig1.sweeps": ["alpha"] * 2}, "figures.fig1.sweeps: list each only once"),
    ({"figures.fig1.measures": ["hidden"] * 2}, "figures.fig1.measures: list each only once"),
    ({"sweeps.alpha.grid": {"batch.size": [1]}}, "sweeps.alpha.grid.batch.size is {'size': 1}"),
]
IN_THE_STUDY += [
    ({"sweeps.spare": {"run": "base", **sweep}}, "sweeps.spare has two points that are the same")
    for sweep in (
        {"grid": {"batch": [5, 10, 5]}},
        {"grid": {"optimizer.lr": [1, 1.0]}},
        {"points": [{"batch": 5}, {"optimizer.lr": 0.1}]},
    )
]
IN_THE_STUDY += [
    (
        {"sweeps.spare": {"run": "base", "grid": {f"{HIDDEN}.layer": ["fc1", "fc2"]}}},
        f"sweeps.spare has two points that are the same run, the second with {HIDDEN}.layer: fc2: "
        "give each option a measure",
    )
]

USER = FILES["user"][1]
PRESET = FILES["preset"][1]
OUTSIDE_THE_STUDIES = [
    ("user", {"preset": "smal"}, "preset is 'smal'. Allowed: small.", "small"),
    ("user", {"studies.flta": {}}, "studies.flta is not a study. Allowed: flat. ", "flat"),
    ("preset", {"studies.flta": {}}, "studies.flta is not a study. Allowed: flat.", "flat"),
    ("user", {"preset": "my {x}"}, "preset: a name has at most 100 letters", None),
    ("user", {"prest": "small"}, "prest is not a key", "preset"),
    ("preset", {"studys": {}}, "studys is not a key", "studies"),
    ("user", {"sources.digits.kind": "digts"}, "sources.digits.kind is 'digts'.", "digits"),
    ("user", {"sources.digits.sede": 1}, "sources.digits.sede is not a key", None),
    ("user", {"data_root": Removed}, "data_root is missing.", None),
    ("preset", {"title": Removed}, "title is missing.", None),
]


def assert_suggests(message, near):
    assert message.endswith(f"Did you mean '{near}'?") if near else "Did you mean" not in message


def test_the_configuration_without_a_mistake_resolves(plan_of):
    assert plan_of().figures.keys() == {"flat_fig1", "flat_fig2"}
    linear = {"runs.base.net": {"family": "dense", "hidden": []}}
    assert plan_of(study=linear | {HIDDEN: SCALING}).runs


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(("key", "value", "said", "allowed", "near"), MISTAKES)
def test_a_mistake_is_reported_with_place_and_remedy(
    refused, file, key, value, said, allowed, near
):
    prefix, name = FILES[file]
    message = refused(**{file: {prefix + key: value}}).partition("\nFigure ")[0]
    assert message.startswith(f"{name}: {prefix}{key}{said}")
    assert allowed in message.partition("Allowed: ")[2]
    assert_suggests(message, near)
    assert "\n" not in message


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(("changes", "said"), CONFLICTS)
def test_settings_that_exclude_each_other_are_refused(refused, file, changes, said):
    prefix, name = FILES[file]
    changes = {prefix + key: value for key, value in changes.items()}
    assert refused(**{file: changes}).startswith(f"{name}: {prefix}{said}")


def test_a_source_of_one_class_is_no_task(refused):
    source = {"kind": "folder", "path": "pets", "classes": 1}
    said = refused(user={"sources.digits": source})
    assert "runs.base.data.source has one class" in said
    assert "sources.digits" in said


@pytest.mark.parametrize(("changes", "said"), IN_THE_STUDY)
def test_a_missing_key_or_impossible_measure_of_a_study_is_refused(refused, changes, said):
    message = refused(study=changes).partition("\nFigure ")[0]
    assert message.startswith(f"config/studies/flat.yaml: {said}")
    assert "\n" not in message


@pytest.mark.parametrize(("file", "changes", "said", "near"), OUTSIDE_THE_STUDIES)
def test_a_mistake_outside_the_studies_names_its_file(refused, file, changes, said, near):
    message = refused(**{file: changes})
    assert message.startswith(f"{FILES[file][1]}: {said}")
    assert_suggests(message, near)


def test_a_missing_key_is_reported_for_the_file_that_begins_the_entry(refused):
    message = refused(user={"studies.flat.runs.more": {"batch": 5}})
    place = f"{USER}: studies.flat.runs.more"
    missing = ("net", "optimizer", "stop", "data")
    lines = message.splitlines()
    assert [line.partition(" is missing.")[0] for line in lines] == [
        f"{place}.{key}" for key in missing
    ]
    assert all("beside base." in line for line in lines)


@pytest.mark.parametrize("file", ["preset", "user"])
@pytest.mark.parametrize(
    ("key", "value", "missing"),
    [("net", {"family": "convolutional"}, "stages"), ("optimizer", {"name": "sgd"}, "lr")],
)
def test_a_missing_key_is_reported_for_the_file_that_replaces_the_entry(
    refused, file, key, value, missing
):
    prefix, name = FILES[file]
    message = refused(
        study={"runs.base.optimizer": {"name": "adam"}},
        **{file: {f"{prefix}runs.base.{key}": value}},
    )
    assert message == f"{name}: {prefix}runs.base.{key}.{missing} is missing."


def test_a_missing_key_is_reported_for_the_file_that_goes_back_to_an_earlier_family(refused):
    message = refused(
        preset={"studies.flat.runs.base.net": {"family": "resnet", "depth": 18}},
        user={"studies.flat.runs.base.net.family": "dense"},
    )
    name = FILES["user"][1]
    assert message == f"{name}: studies.flat.runs.base.net.hidden is missing."


@pytest.mark.parametrize("file", ["preset", "user"])
@pytest.mark.parametrize(
    ("name", "entry", "missing", "meant"),
    [
        ("sweeps.alfa", {"grid": {"batch": [5]}}, "run", "alpha"),
        ("runs.bse", {"batch": 5}, "net", "base"),
        ("measures.hiden", {"layer": "fc2"}, "measure", "hidden"),
        ("figures.fig11", {"sweeps": ["alpha"]}, "title", "fig1"),
    ],
)
def test_a_new_incomplete_entry_may_be_a_mistyped_one(refused, file, name, entry, missing, meant):
    prefix, place = FILES[file]
    message = refused(**{file: {prefix + name: entry}})
    assert message.startswith(f"{place}: {prefix}{name}.{missing} is missing.")
    assert_suggests(message, meant)


def test_a_new_complete_entry_may_have_any_name(plan_of):
    alfa = {"run": "base", "grid": {"batch": [5]}}
    assert "alfa" in plan_of(user={"studies.flat.sweeps.alfa": alfa}).studies["flat"].sweeps


def with_patches(net):
    """The study with this net, and a measure of convolutions beside that of a dense layer."""
    return {
        "runs.base.net": net,
        "measures.patches": {"measure": "convolution_duality", "layer": "conv1"},
        "figures.fig1.measures": ["hidden", "patches"],
    }


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(
    ("measure", "layer", "said"),
    [
        ("hidden", "conv1", "', a convolution, but this needs a dense layer."),
        ("patches", "fc2", "'. Allowed: conv1."),
        ("patches", "conv2", "'. Allowed: conv1. Did you mean 'conv1'?"),
    ],
)
def test_a_layer_of_the_wrong_kind_is_refused(plan_of, refused, file, measure, layer, said):
    stages = [{"channels": 2, "kernel": 3}]
    study = with_patches({"family": "convolutional", "stages": stages, "hidden": [4]})
    assert len(plan_of(study=study).measurements) == 4
    prefix, name = FILES[file]
    wrong = f"{prefix}measures.{measure}.layer"
    changes = {"study": study}
    changes[file] = changes.get(file, {}) | {wrong: layer}
    assert refused(**changes).startswith(f"{name}: {wrong} names '{layer}{said}")


def test_a_net_without_convolutions_has_no_layer_to_name(refused):
    message = refused(study=with_patches({"family": "dense", "hidden": [4, 3]}))
    place = "config/studies/flat.yaml: measures.patches.layer names 'conv1'"
    assert message.startswith(f"{place}, but a net of family 'dense' has no convolution")


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        (
            {"user": {"studies.flat.runs.base.measures.hidden.layer": "fc9"}},
            f"{USER}: studies.flat.runs.base.measures.hidden.layer",
        ),
        (
            {"study": {"runs.base.measures.hidden": {"at": ["final"]}, f"{HIDDEN}.layer": "c"}},
            f"config/studies/flat.yaml: {HIDDEN}.layer names 'c'",
        ),
    ],
)
def test_a_measure_that_does_not_fit_names_figure_and_sweep(refused, changes, place):
    """The wrong option is the study's, or the run's own."""
    message = refused(**changes)
    assert message.startswith(place)
    assert message.endswith("\nFigure 'fig1' takes this measure of sweep 'alpha'.")


VALLEY = {
    "runs.recorded": STUDY["runs"]["base"] | {"snapshots": "fc2", "stop": {"epochs": 2}},
    "runs.recorded.stop.extra_epochs": 1,
    "sweeps.recorded": {"run": "recorded", "points": [{}]},
    "measures.valley": {"measure": "valley", "layer": "fc2", "directions": 3},
    "figures.fig1": {"title": "One", "sweeps": ["alpha", "recorded"], "where_it_fits": True},
    "figures.fig1.measures": ["hidden", "valley"],
}


@pytest.mark.parametrize("layer", ["fc1", "fc2"])
def test_an_option_of_the_user_need_fit_only_one_run_of_a_lenient_figure(plan_of, layer):
    user = {"measures.valley.layer": layer, "runs.recorded.snapshots": layer}
    plan = plan_of(study=VALLEY, user={f"studies.flat.{key}": said for key, said in user.items()})
    taken = {one.sweep for one in plan.figures["flat_fig1"].entries if "valley" in one.measurements}
    assert taken == {"recorded"}


@pytest.mark.parametrize("run", ["", "runs.recorded."])
def test_an_option_of_the_user_that_fits_no_run_is_refused_in_a_lenient_figure(refused, run):
    """Also one for a single run, where the measure fits others."""
    wrong = f"studies.flat.{run}measures.hidden.layer"
    message = refused(study=VALLEY, user={wrong: "fc9"})
    assert message.startswith(f"{USER}: {wrong} names 'fc9'")
    assert message.endswith("\nFigure 'fig1' takes this measure of sweep 'recorded'.")


@pytest.mark.parametrize("file", FILES)
def test_a_moment_without_kept_weights_is_refused(refused, file):
    prefix, name = FILES[file]
    changes = {"study": {"runs.base.checkpoints": [3, 7]}}
    changes[file] = changes.get(file, {}) | {f"{prefix}measures.hidden.at": [3, 4, "final"]}
    place = f"{name}: {prefix}measures.hidden.at"
    assert refused(**changes).startswith(f"{place} names '4'. Allowed: 3, 7, final.")


def test_classes_are_allowed_up_to_the_last_one_of_the_source(plan_of, refused):
    textures = {"sources.textures": {"kind": "textures", "classes": 4}}
    study = {"runs.base.data.source": "textures", "runs.base.data.classes": [1, 3]}
    assert plan_of(study=study, user=textures).runs
    message = refused(study=study | {"runs.base.data.classes": [1, 4]}, user=textures)
    assert "names '4'. Allowed: 0, 1, 2, 3." in message


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(
    ("run", "grid", "wrong"),
    [
        (
            {"optimizer": {"name": "momentum", "lr": 0.1, "momentum": 0.8}},
            {"optimizer.name": ["momentum", "sgd"]},
            "optimizer.momentum is not a key",
        ),
        ({}, {"net.family": ["dense", "resnet"]}, "net.blocks is missing"),
    ],
)
def test_a_swept_value_that_does_not_fit_the_run_names_run_and_sweep(
    refused, file, run, grid, wrong
):
    """Both may be the mistake."""
    prefix, name = FILES[file]
    changes = {"study": {f"runs.base.{key}": value for key, value in run.items()}}
    changes[file] = changes.get(file, {}) | {f"{prefix}sweeps.spare": {"run": "base", "grid": grid}}
    message = refused(**changes)
    assert message.startswith(f"config/studies/flat.yaml: runs.base.{wrong}")
    ((key, (_, value)),) = grid.items()
    assert f"{name}: {prefix}sweeps.spare.grid sets {key}: {value!r} in this run." in message


def test_a_wrong_value_in_a_grid_with_keys_of_two_files_is_said_once(refused):
    """The file of the value, not that of the last key that the grid got."""
    study = {"sweeps.alpha.grid": {"optimizer.lr": [0.1, -1]}}
    message = refused(study=study, user={"studies.flat.sweeps.alpha.grid": {"batch": [5, 10]}})
    assert message.startswith("config/studies/flat.yaml: sweeps.alpha.grid.optimizer.lr is -1")
    assert USER not in message


def test_two_specs_with_the_same_id_are_refused(refused, monkeypatch):
    """Twelve digits do not collide by chance, so here all runs get the same digest."""
    monkeypatch.setattr("flatlas.plan.declared_study.DeclaredStudy.check", lambda self: None)
    monkeypatch.setattr("flatlas.plan.plan.run_id", lambda run: "same-000000000000")
    assert refused().startswith("two different specs have the id same-000000000000")


def test_several_mistakes_are_reported_at_once_each_for_its_own_file(refused):
    message = refused(
        study={"runs.base.stop.epochs": -1},
        preset={"studies.flat.runs.base.batch": "x"},
        user={"studies.flat.realizations": 0},
    )
    assert {line.partition(" is ")[0] for line in message.splitlines()} == {
        f"{USER}: studies.flat.realizations",
        f"{PRESET}: studies.flat.runs.base.batch",
        "config/studies/flat.yaml: runs.base.stop.epochs",
    }


def test_a_later_file_can_correct_a_mistake(plan_of):
    plan = plan_of(
        study={"runs.base.batch": "x"},
        preset={"studies.flat.runs.base.batch": "y"},
        user={"studies.flat.runs.base.batch": 9, "studies.flat.sweeps.batch.grid.batch": [9]},
    )
    assert {run.batch for run in plan.runs.values()} == {9}


def test_a_preset_that_is_not_a_yaml_mapping_is_named(tmp_path):
    write(tmp_path / "presets/broken.yaml", ["title"])
    with pytest.raises(FlatlasError, match=r"broken\.yaml must hold a mapping"):
        resolve({"preset": "broken", "data_root": "somewhere", "sources": {}}, tmp_path)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_mistyped_key_over_a_shipped_preset_is_found(preset):
    user = SHIPPED | {"preset": preset, "studies": {"duality": {"realisations": 1}}}
    with pytest.raises(FlatlasError, match=r"duality\.realisations.*Did you mean 'realizations'"):
        resolve(user, CONFIG)


def test_a_preset_named_as_a_folder_of_results_is_refused(tmp_path):
    """To clean a study of this preset would delete other results."""
    made = {file.split("/")[1] for each in paths.OUTPUTS.values() for file in each.values()}
    made |= {paths.measure_outputs("a", ["b"])["b"].split("/")[1], paths.LOG.split("/")[1]}
    made |= {paths.BY_HAND.name, SHIPPED["data_root"].split("/")[1], "resume", "site"}
    assert made == {*paths.FOLDERS}
    write(tmp_path / "config" / "presets" / "measures.yaml", small_configuration.PRESET)
    with pytest.raises(FlatlasError, match=r"presets/measures\.yaml has the name of the folder"):
        resolve(small_configuration.USER | {"preset": "measures"}, tmp_path / "config")


def test_a_preset_that_omits_a_study_is_refused(plan_of, refused, tmp_path):
    """Otherwise the study would be trained at full scale."""
    write(tmp_path / "config" / "studies" / "mine.yaml", STUDY)
    message = refused()
    assert message.startswith("config/presets/small.yaml: studies")
    assert "config/studies/mine" in message and "mine: {}" in message
    assert "mine" in plan_of(preset={"studies.mine": {}}).studies
    assert "mine" in plan_of(preset={"studies": {}}).studies, "a preset that changes nothing"


@pytest.mark.parametrize(
    ("source", "study", "said", "source_said"),
    [
        (
            {"classes": 4},
            {"runs.base.data.positive": [5]},
            "runs.base.data.positive names '5'",
            f"{USER}: sources.digits, of kind folder, with 4 classes",
        ),
        (
            {"side": 2},
            {
                "runs.base.net": {
                    "family": "convolutional",
                    "stages": [{"channels": 2, "kernel": 3}],
                    "hidden": [4, 3],
                }
            },
            "runs.base.net leaves nothing of an image",
            f"{USER}: sources.digits, of kind folder, with 10 classes of 2 x 2",
        ),
        (
            {"classes": 2},
            {
                "runs.base.data.only": [0, 1],
                "runs.base.snapshots": "fc2",
                "runs.base.stop.extra_epochs": 1,
                HIDDEN: {
                    "measure": "forgetting",
                    "layer": "fc2",
                    "task": [2],
                    "strengths": [1],
                    "directions": [1],
                },
            },
            "measures.hidden.task is [2]",
            "of the run's 2 classes of the folder 'pets' outside data.only: none.",
        ),
    ],
)
def test_the_error_also_names_a_source_that_may_be_wrong(refused, source, study, said, source_said):
    """The mistake may be in the source that the user changed: the study is as it was."""
    own = {"kind": "folder", "path": "pets", "classes": 10} | source
    message = refused(study=study, user={"sources.digits": own})
    assert message.startswith(f"config/studies/flat.yaml: {said}")
    assert source_said in message


@pytest.mark.parametrize("file", ["preset", "user"])
def test_a_papers_figure_keeps_the_measures_that_it_draws(plan_of, refused, file):
    """Without the tables of these measures the figure would fail, after all trainings."""
    prefix, name = FILES[file]
    fewer = {f"{prefix}figures.fig1.measures": []}
    message = refused(**{file: fewer})
    assert message.startswith(f"{name}: studies.flat.figures.fig1.measures lacks hidden, which ")
    other = {f"{prefix}measures.hidden": {"measure": "relative_flatness", "layer": "fc2"}}
    lent = {HIDDEN: {"measure": "relative_flatness", "layer": "fc2"}}
    assert plan_of(study=lent, **{file: other}).figures
    message = refused(study=lent, **{file: {f"{prefix}{HIDDEN}.measure": "duality"}})
    said = "measures.hidden.measure is 'duality', but flat.fig1 draws 'relative_flatness'"
    assert message.startswith(f"{name}: studies.flat.{said}")
    lenient = {"figures.fig1.where_it_fits": True}
    assert plan_of(study=lenient, **{file: fewer}).figures
    message = refused(**{file: {f"{prefix}figures.fig1.sweeps": []}})
    assert message.startswith(f"{name}: studies.flat.figures.fig1.sweeps is []")
