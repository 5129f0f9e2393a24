"""A mistake in any of the files: file, dotted key, value, what is allowed, the nearest name."""

from pathlib import Path

import pytest
import yaml
from small_configuration import STUDY, Removed, write

from flatlas.errors import FlatlasError
from flatlas.plan.documents import read_yaml
from flatlas.plan.resolve import resolve

ROOT = Path(__file__).resolve().parents[2]
# Which argument of `plan_of` changes which file, how keys begin there, and how messages call it.
FILES = {
    "study": ("", "config/studies/flat.yaml"),
    "preset": ("studies.flat.", "config/presets/small.yaml"),
    "user": ("studies.flat.", "config/config.yaml (or --configfile, --config)"),
}
BASE = "runs.base."
KEYS = "average, batch, checkpoints, data, frozen, learners, measures, net, optimizer, "

# What is written where, and what the message says of it; a message names the place by itself.
MISTAKES = {
    "key": (
        f"{BASE}bacth", 5, f"{BASE}bacth is not a key", "schedule, snapshots, start, stop", "batch",
    ),
    "key of a study": ("runz", {}, "runz is not a key", "sweeps, title", "runs"),
    "key of a union": (
        f"{BASE}optimizer.rl", 1, f"{BASE}optimizer.rl is not a key", "Allowed: lr, name.", "lr",
    ),
    "key, deep": (
        f"{BASE}net.init", {"scheme": "he_normal", "bias_sdt": 1},
        f"{BASE}net.init.bias_sdt is not a key", "Allowed: bias_std, scheme.", "bias_std",
    ),
    "key of a sweep": ("sweeps.alpha.gird", {}, "sweeps.alpha.gird is not a key", "run", "grid"),
    "key of a measure": (
        "measures.hidden.layr", "fc2", "measures.hidden.layr is not a key", "directions", "layer",
    ),
    "layer of a measure": (
        "measures.hidden.layer", "f2", "measures.hidden.layer names 'f2'", "fc1, fc2", "fc2",
    ),
    "value": (f"{BASE}optimizer.lr", -1, f"{BASE}optimizer.lr is -1", "greater than 0", None),
    "text for a number": (
        f"{BASE}optimizer.lr", "fast", f"{BASE}optimizer.lr is 'fast'", "a valid number", None,
    ),
    "value of two kinds": (f"{BASE}batch", "ful", f"{BASE}batch is 'ful'", "full.", "full"),
    "no value": (f"{BASE}stop.epochs", None, f"{BASE}stop.epochs is None", "integer", None),
    "value in a list": (
        f"{BASE}net.hidden", [4, 0], f"{BASE}net.hidden.1 is 0", "greater than 0", None,
    ),
    "one number for a list": (f"{BASE}net.hidden", 5, f"{BASE}net.hidden is 5", "a list", None),
    "choice": (
        f"{BASE}schedule.kind", "stp", f"{BASE}schedule.kind is 'stp'",
        "Allowed: constant, step, linear_tail.", "step",
    ),
    "choice of a measure": (
        "measures.hidden.directions", "hessain", "measures.hidden.directions is 'hessain'",
        "Allowed: hessian, fisher.", "hessian",
    ),
    "tag of a union": (
        f"{BASE}optimizer.name", "sdg", f"{BASE}optimizer.name is 'sdg'", "momentum, adam", "sgd",
    ),
    "tag of an inner union": (
        f"{BASE}net.init", {"scheme": "xavier"}, f"{BASE}net.init.scheme is 'xavier'",
        "Allowed: xavier_uniform, he_normal, scaled_normal, framework_uniform.", "xavier_uniform",
    ),
    "text for a mapping": (
        f"{BASE}optimizer", "sgd", f"{BASE}optimizer is 'sgd'", "a mapping of keys to values", None,
    ),
    "nothing for a mapping": ("runs", None, "runs is None", "a mapping of keys to values", None),
    "source": (
        f"{BASE}data.source", "dgits", f"{BASE}data.source names 'dgits'",
        "Allowed: mnist, digits, boolean.", "digits",
    ),
    "base run of a sweep": (
        "sweeps.alpha.run", "bas", "sweeps.alpha.run names 'bas'", "Allowed: base.", "base",
    ),
    "sweep of a figure": (
        "figures.fig1.sweeps", ["alhpa"], "figures.fig1.sweeps names 'alhpa'",
        "Allowed: alpha, batch.", "alpha",
    ),
    "measure of a figure": (
        "figures.fig1.measures", ["hiden"], "figures.fig1.measures names 'hiden'",
        "Allowed: hidden.", "hidden",
    ),
    "measure": (
        "measures.hidden.measure", "dualty", "measures.hidden.measure names 'dualty'",
        "Allowed: ", "duality",
    ),
    "the only moment of a measure": (
        "measures.hidden.at", ["end"], "measures.hidden.at.0 is 'end'", "final", None,
    ),
    "swept key": (
        "sweeps.alpha.grid", {"optimizer.rl": [1]}, "sweeps.alpha.grid.optimizer.rl is not a key",
        "Allowed: lr, name.", "lr",
    ),
    "swept key, first part": (
        "sweeps.alpha.grid", {"optimiser.lr": [1]},
        "sweeps.alpha.grid.optimiser.lr is not a key", KEYS, "optimizer",
    ),
    "swept value": (
        "sweeps.batch.grid.batch", [5, 0], "sweeps.batch.grid.batch is 0", "greater than 0", None,
    ),
    "swept source": (
        "sweeps.batch.grid", {"data.source": ["dgits"]},
        "sweeps.batch.grid.data.source names 'dgits'", "Allowed: mnist, digits, boolean.",
        "digits",
    ),
    "no values to sweep": (
        "sweeps.batch.grid.batch", [], "sweeps.batch.grid.batch is []", "at least 1 item", None,
    ),
    "no list of values": (
        "sweeps.batch.grid.batch", 5, "sweeps.batch.grid.batch is 5", "a list, as in [5]", None,
    ),
    "key of a point": (
        "sweeps.alpha", {"run": "base", "points": [{"batch": 5}, {"bacth": 6}], "grid": None},
        "sweeps.alpha.points.1.bacth is not a key", "schedule, snapshots, start, stop", "batch",
    ),
    "key in a mapping of a point": (
        "sweeps.alpha",
        {"run": "base", "points": [{"optimizer": {"name": "adam", "rl": 1}}], "grid": None},
        "sweeps.alpha.points.0.optimizer.rl is not a key", "betas, epsilon, lr, name", "lr",
    ),
    "value of a point": (
        "sweeps.alpha", {"run": "base", "points": [{"batch": 5}, {"batch": 0}], "grid": None},
        "sweeps.alpha.points.1.batch is 0", "greater than 0", None,
    ),
}  # fmt: skip

# What excludes what, or asks for what: said at the mapping that holds both.
QUARRELS = {
    "a tail that lands before it falls": (
        f"{BASE}schedule", {"kind": "linear_tail", "hold": 0.9, "land": 0.5},
        f"{BASE}schedule: land is 0.5, but must be above hold, 0.9",
    ),
    "steps without epochs": (
        f"{BASE}schedule", {"kind": "step"},
        f"{BASE}schedule: the epochs of the steps belong to kind: step, and only there",
    ),
    "epochs without steps": (
        f"{BASE}schedule", {"kind": "linear_tail", "epochs": [3]},
        f"{BASE}schedule: the epochs of the steps belong to kind: step, and only there",
    ),
    "an average that begins after the end": (
        f"{BASE}average", {"from_epoch": 8}, "runs.base: average.from_epoch is after the last ep",
    ),
    "few bits for a dense net": (
        f"{BASE}precision", "bfloat16",
        "runs.base: precision is of nets with convolutions: a dense net is float32",
    ),
    "two sizes": (f"{BASE}data.train_size", 5, f"{BASE}data: say exactly one of per_class and"),
    "noise and attack": (
        f"{BASE}data",
        {"source": "digits", "per_class": 5, "test_size": 5, "label_noise": 0.1, "attack_size": 5},
        f"{BASE}data: label_noise and attack_size exclude each other",
    ),
    "functions and sizes": (
        f"{BASE}data.functions", {"draws": 100},
        f"{BASE}data: functions exclude per_class, test_size: all inputs are learnt",
    ),
    "functions of images": (
        f"{BASE}data",
        {"source": "digits", "functions": {"draws": 9}, "per_class": None, "test_size": None},
        f"{BASE}data: a source of kind boolean has no labels but those of functions, and func",
    ),
    "inputs without functions": (
        f"{BASE}data", {"source": "boolean", "per_class": 2, "test_size": 2},
        f"{BASE}data: a source of kind boolean has no labels but those of functions, and func",
    ),
    "grid and points": ("sweeps.alpha.points", [{}], "sweeps.alpha: say exactly one of grid and"),
    "neither grid nor points": (
        "sweeps.more", {"run": "base"}, "sweeps.more: say exactly one of grid and points",
    ),
    "snapshots without their epochs": (
        f"{BASE}snapshots", "fc2", "runs.base: snapshots are taken in stop.extra_epochs, which",
    ),
}  # fmt: skip

MISSING = {
    "key": (f"{BASE}batch", f"{BASE}batch is missing"),
    "key of a union": (f"{BASE}optimizer.lr", f"{BASE}optimizer.lr is missing"),
    "tag of a union": (f"{BASE}optimizer.name", f"{BASE}optimizer.name is missing"),
    "title": ("title", "title is missing"),
    "measure": ("measures.hidden.measure", "measures.hidden.measure is missing"),
    "option of a measure": ("measures.hidden.layer", "measures.hidden.layer is missing"),
    "size": (f"{BASE}data.per_class", f"{BASE}data: say exactly one of per_class and train_size"),
    "test size": (f"{BASE}data.test_size", f"{BASE}data: say test_size"),
}


def message_of(plan_of, **changes):
    with pytest.raises(FlatlasError) as raised:
        plan_of(**changes)
    return str(raised.value).partition("\nFigure ")[0]


def test_the_configuration_that_is_spoilt_here_is_whole(plan_of):
    assert plan_of().figures.keys() == {"flat_fig1", "flat_fig2"}


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_with_its_place_and_its_remedy(plan_of, file, mistake):
    key, value, said, allowed, near = MISTAKES[mistake]
    prefix, name = FILES[file]
    message = message_of(plan_of, **{file: {prefix + key: value}})
    assert message.startswith(f"{name}: {prefix}{said}")
    assert "Allowed: " in message
    assert allowed in message
    assert ("Did you mean" in message) is (near is not None)
    assert near is None or message.endswith(f"Did you mean '{near}'?")
    assert "\n" not in message


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("quarrel", QUARRELS)
def test_keys_that_do_not_go_together(plan_of, file, quarrel):
    key, value, said = QUARRELS[quarrel]
    prefix, name = FILES[file]
    message = message_of(plan_of, **{file: {prefix + key: value}})
    assert message.startswith(f"{name}: {prefix}{said}")


@pytest.mark.parametrize("missing", MISSING)
def test_a_missing_key(plan_of, missing):
    key, said = MISSING[missing]
    message = message_of(plan_of, study={key: Removed})
    assert message.startswith(f"config/studies/flat.yaml: {said}")
    assert "\n" not in message


def test_a_missing_key_is_told_by_the_file_that_begins_what_lacks_it(plan_of):
    message = message_of(plan_of, user={"studies.flat.runs.more": {"batch": 5}})
    lines = message.splitlines()
    place = "config/config.yaml (or --configfile, --config): studies.flat.runs.more"
    assert lines == [f"{place}.{key} is missing." for key in ("net", "optimizer", "stop", "data")]


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
def test_an_entry_that_is_new_and_not_whole_may_be_a_mistyped_one(
    plan_of, file, name, entry, missing, meant
):
    prefix, place = FILES[file]
    message = message_of(plan_of, **{file: {prefix + name: entry}})
    assert message.startswith(f"{place}: {prefix}{name}.{missing} is missing.")
    given = name.partition(".")[2]
    assert message.endswith(f". '{given}' is new here. Did you mean '{meant}'?")


def test_an_entry_that_is_new_and_whole_is_welcome_whatever_its_name(plan_of):
    alfa = {"run": "base", "grid": {"batch": [5]}}
    assert "alfa" in plan_of(user={"studies.flat.sweeps.alfa": alfa}).studies["flat"].sweeps


def test_a_mistyped_layer_of_snapshots_is_told_before_anything_is_trained(plan_of):
    changes = {"runs.base.snapshots": "fc9", "runs.base.stop.extra_epochs": 1}
    message = message_of(plan_of, study=changes)
    assert message.startswith("config/studies/flat.yaml: runs.base.snapshots names 'fc9'.")
    assert "Allowed: fc1, fc2, fc3." in message


CONVOLUTIONAL = {
    "family": "convolutional", "stages": [{"channels": 2, "kernel": 3}], "hidden": [4],
}  # fmt: skip


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
        (
            "hidden", "conv1",
            "conv1', a convolution, but the exact duality needs a dense layer. Allowed: fc1, fc2.",
        ),
        ("patches", "fc2", "fc2'. Allowed: conv1."),
        ("patches", "conv2", "conv2'. Allowed: conv1. Did you mean 'conv1'?"),
    ],
)  # fmt: skip
def test_a_layer_of_the_wrong_kind(plan_of, file, measure, layer, said):
    prefix, name = FILES[file]
    study = with_patches(CONVOLUTIONAL)
    assert len(plan_of(study=study).measurements) == 4
    wrong = f"{prefix}measures.{measure}.layer"
    changes = {"study": study}
    changes[file] = changes.get(file, {}) | {wrong: layer}
    message = message_of(plan_of, **changes)
    assert message.startswith(f"{name}: {wrong} names '{said}")


def test_where_a_measure_is_taken_that_does_not_fit(plan_of):
    """The option is the study's, or the run's own; the run is one of a figure's sweep."""
    asked = "\nFigure 'fig1' takes this measure of sweep 'alpha'."
    with pytest.raises(FlatlasError) as raised:
        plan_of(user={"studies.flat.runs.base.measures.hidden.layer": "fc9"})
    text = str(raised.value)
    assert text.startswith(f"{FILES['user'][1]}: studies.flat.runs.base.measures.hidden.layer")
    assert text.endswith(asked)
    with pytest.raises(FlatlasError) as raised:
        plan_of(
            study={"runs.base.measures.hidden": {"at": ["final"]}, "measures.hidden.layer": "c"}
        )
    text = str(raised.value)
    assert text.startswith("config/studies/flat.yaml: measures.hidden.layer names 'c'")
    assert text.endswith(asked)


def test_a_net_without_convolutions_has_no_layer_to_name(plan_of):
    study = with_patches({"family": "dense", "hidden": [4, 3]})
    assert message_of(plan_of, study=study) == (
        "config/studies/flat.yaml: measures.patches.layer names 'conv1', but a net of family "
        "'dense' has no convolution with a name: take this measure of other runs."
    )


@pytest.mark.parametrize("file", FILES)
def test_a_moment_at_which_no_weights_are_kept(plan_of, file):
    prefix, name = FILES[file]
    changes = {"study": {f"{BASE}checkpoints": [3, 7]}}
    changes[file] = changes.get(file, {}) | {f"{prefix}measures.hidden.at": [3, 4, "final"]}
    message = message_of(plan_of, **changes)
    place = f"{name}: {prefix}measures.hidden.at"
    assert message == (
        f"{place} names '4'. Allowed: 3, 7, final. "
        "A run keeps what its checkpoints and its overtraining say."
    )


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        (
            {"measure": "test_images", "layer": "fc2", "sizes": [10, 21]},
            "sizes asks for 21 test images, but data.test_size is 20.",
        ),
        (
            {"measure": "scale_invariance", "layer": "fc3", "factors": [1.0, 2.0]},
            "layer is 'fc3', which has no next layer. Allowed: fc1, fc2.",
        ),
        (
            {"measure": "scale_invariance", "layer": "fc2", "factors": [0.5, 2.0]},
            "factors: the factor 1, against which the others are held, has to be among them.",
        ),
        (
            {"measure": "boolean_prior"},
            "measure is of the functions that random nets express: say data.functions.",
        ),
        (
            {"measure": "scaled_shift", "layer": "fc2", "scales": [0.5, 0.5]},
            "scales: say each only once, not 0.5, 0.5.",
        ),
        (
            {"measure": "hessian", "tolerance": 1e-3, "precision": "float32"},
            "precision is of nets with convolutions: leave it out.",
        ),
    ],
)
def test_what_a_run_can_not_give_a_measure_is_told_before_anything_runs(plan_of, measure, said):
    message = message_of(plan_of, study={"measures.hidden": measure})
    assert message == f"config/studies/flat.yaml: measures.hidden.{said}"


def test_single_precision_can_not_meet_a_small_tolerance(plan_of):
    asked = {"measure": "hessian", "precision": "float32", "tolerance": 1e-5}
    message = message_of(plan_of, study={"measures.hidden": asked})
    assert message.startswith("config/studies/flat.yaml: measures.hidden: in float32 products are")


@pytest.mark.parametrize(
    ("study", "said"),
    [
        ({"runs.base.net.bias": True}, "is of dense nets without biases, or with one layer"),
        ({"runs.base.data.positive": [1]}, "is of nets with an output a class"),
    ],
)
def test_a_net_that_is_not_as_the_theory_of_scaling_asks(plan_of, study, said):
    scaling = {"measures.hidden": {"measure": "norm_scaling", "factors": [1, 2]}}
    assert plan_of(study={**scaling, "runs.base.net": {"family": "dense", "hidden": []}}).runs
    assert f"measures.hidden.measure {said}" in message_of(plan_of, study={**scaling, **study})


def test_a_mistake_in_a_sweep_that_no_figure_draws(plan_of):
    spare = {"run": "base", "grid": {"batch": [0]}}
    message = message_of(plan_of, study={"sweeps.spare": spare})
    assert message.startswith("config/studies/flat.yaml: sweeps.spare.grid.batch is 0.")


@pytest.mark.parametrize(
    ("spare", "said"),
    [
        ({"measure": "dualty", "layer": "fc2"}, "measures.spare.measure names 'dualty'."),
        ({"layer": "fc2"}, "measures.spare.measure is missing."),
        ({"measure": "duality", "layer": "fc2", "sharp": 0}, "measures.spare.sharp is 0."),
    ],
)
def test_a_mistake_in_a_measure_that_no_figure_takes(plan_of, spare, said):
    message = message_of(plan_of, study={"measures.spare": spare})
    assert message.startswith(f"config/studies/flat.yaml: {said}")


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("key", ["classes", "positive"])
def test_a_class_that_the_source_does_not_have(plan_of, file, key):
    prefix, name = FILES[file]
    message = message_of(plan_of, **{file: {f"{prefix}{BASE}data.{key}": [3, 10]}})
    assert message.startswith(f"{name}: {prefix}{BASE}data.{key} names '10'. Allowed: 0, 1, 2, ")
    assert "8, 9." in message


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"classes": [3]}, "data.classes is [3]."),
        ({"classes": []}, "data.classes is []."),
        ({"classes": [1, 1]}, "say each only once, not 1, 1"),
        ({"positive": []}, "data.positive is []."),
        ({"positive": [1], "classes": [2, 3]}, "data.positive names '1'. Allowed: 2, 3."),
        ({"positive": [3, 2], "classes": [2, 3]}, "data.positive names all classes"),
        ({"positive": [*range(10)]}, "data.positive names all classes"),
        ({"only": []}, "data.only is []."),
        ({"only": [1], "classes": [2, 3]}, "data.only names '1'. Allowed: 2, 3."),
    ],
)
def test_classes_of_which_there_is_no_task(plan_of, file, data, said):
    prefix, name = FILES[file]
    changes = {f"{prefix}{BASE}data.{key}": value for key, value in data.items()}
    message = message_of(plan_of, **{file: changes})
    assert message.startswith(f"{name}: ")
    assert said in message


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(("place", "key"), [("runs.base", "batch"), ("runs.base.optimizer", "lr")])
def test_yes_is_no_number(plan_of, file, place, key):
    """What YAML makes of `yes` and `on`."""
    prefix, name = FILES[file]
    message = message_of(plan_of, **{file: {f"{prefix}{place}.{key}": True}})
    assert message.startswith(f"{name}: ")
    assert f"{key} is True, but has to be a number" in message


@pytest.mark.parametrize("what", ["sweeps", "measures"])
def test_what_a_figure_names_twice(plan_of, what):
    name = {"sweeps": "alpha", "measures": "hidden"}[what]
    message = message_of(plan_of, study={f"figures.fig1.{what}": [name, name]})
    assert f"figures.fig1.{what}" in message
    assert f"say each only once, not {name}, {name}" in message


def test_a_sweep_over_a_part_of_what_has_no_parts(plan_of):
    message = message_of(plan_of, study={"sweeps.alpha.grid": {"batch.size": [1]}})
    assert "batch" in message
    assert "{'size': 1}" in message


def test_a_measure_that_is_no_name(plan_of):
    message = message_of(plan_of, study={"measures.hidden.measure": ["duality"]})
    assert "measures.hidden.measure names" in message
    assert "duality, " in message.partition("Allowed: ")[2]


def test_overtraining_that_never_begins(plan_of):
    never = {f"{BASE}stop": {"epochs": 0}, f"{BASE}overtraining": [0]}
    assert "no rule is met" in message_of(plan_of, study=never)


def test_the_last_class_of_a_source_is_one_of_its_classes(plan_of):
    textures = {"kind": "textures", "classes": 4}
    study = {"runs.base.data.source": "textures", "runs.base.data.classes": [1, 3]}
    assert plan_of(study=study, user={"sources.textures": textures}).runs
    study["runs.base.data.classes"] = [1, 4]
    message = message_of(plan_of, study=study, user={"sources.textures": textures})
    assert "names '4'. Allowed: 0, 1, 2, 3." in message


@pytest.mark.parametrize(
    "sweep",
    [
        {"grid": {"batch": [5, 10, 5]}},
        {"grid": {"optimizer.lr": [1, 1.0]}},
        {"points": [{"batch": 5}, {"optimizer.lr": 0.1}]},
    ],
)
def test_two_points_that_are_the_same_run(plan_of, sweep):
    message = message_of(plan_of, study={"sweeps.spare": {"run": "base", **sweep}})
    place = "config/studies/flat.yaml: sweeps.spare"
    assert message == f"{place} has two points that are the same run: remove one of them."


def test_two_specs_of_one_id_are_told_apart(plan_of, monkeypatch):
    """Twelve digits do not collide by chance, so here all runs get the same."""
    monkeypatch.setattr("flatlas.plan.resolve._StudyResolver._check_sweeps", lambda self: None)
    monkeypatch.setattr("flatlas.plan.resolve.run_id", lambda run: "same-000000000000")
    message = message_of(plan_of)
    assert message.startswith("two different specs have the id same-000000000000")


def test_several_mistakes_are_told_at_once_each_in_its_own_file(plan_of):
    message = message_of(
        plan_of,
        study={"runs.base.stop.epochs": -1},
        preset={"studies.flat.runs.base.batch": "x"},
        user={"studies.flat.realizations": 0},
    )
    places = sorted(line.partition(" is ")[0] for line in message.splitlines())
    assert places == [
        "config/config.yaml (or --configfile, --config): studies.flat.realizations",
        "config/presets/small.yaml: studies.flat.runs.base.batch",
        "config/studies/flat.yaml: runs.base.stop.epochs",
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"user": {"preset": "smal"}},
            "config/config.yaml (or --configfile, --config): preset is 'smal'. Allowed: small."
            " Did you mean 'small'?",
        ),
        (
            {"user": {"studies.flta": {}}},
            "config/config.yaml (or --configfile, --config): studies.flta is no study."
            " Allowed: flat. Did you mean 'flat'?",
        ),
        (
            {"preset": {"studies.flta": {}}},
            "config/presets/small.yaml: studies.flta is no study."
            " Allowed: flat. Did you mean 'flat'?",
        ),
        (
            {"user": {"prest": "small"}},
            "config/config.yaml (or --configfile, --config): prest is not a key that is known here."
            " Allowed: after, before, complete, data_root, distributed, preset, sources, studies,"
            " warm_start."
            " Did you mean 'preset'?",
        ),
        (
            {"preset": {"studys": {}}},
            "config/presets/small.yaml: studys is not a key that is known here."
            " Allowed: judged, studies, title. Did you mean 'studies'?",
        ),
        (
            {"user": {"sources.digits.kind": "digts"}},
            "config/config.yaml (or --configfile, --config): sources.digits.kind is 'digts'."
            " Allowed: mnist, cifar10, cifar100, folder, digits, textures, boolean."
            " Did you mean 'digits'?",
        ),
        (
            {"user": {"sources.digits.sede": 1}},
            "config/config.yaml (or --configfile, --config): sources.digits.sede is not"
            " a key that is known here. Allowed: kind.",
        ),
        (
            {"user": {"data_root": Removed}},
            "config/config.yaml (or --configfile, --config): data_root is missing.",
        ),
        ({"preset": {"title": Removed}}, "config/presets/small.yaml: title is missing."),
    ],
)
def test_mistakes_outside_the_studies(plan_of, changes, message):
    assert message_of(plan_of, **changes) == message


def test_a_later_file_that_mends_a_mistake_is_listened_to(plan_of):
    plan = plan_of(
        study={"runs.base.batch": "x"},
        preset={"studies.flat.runs.base.batch": "y"},
        user={"studies.flat.runs.base.batch": 9, "studies.flat.sweeps.batch.grid.batch": [9]},
    )
    assert {run.batch for run in plan.runs.values()} == {9}


def test_a_file_in_another_encoding_is_named(tmp_path):
    file = tmp_path / "latin.yaml"
    file.write_bytes("title: Schärfe".encode("latin-1"))
    with pytest.raises(FlatlasError, match=r"latin\.yaml is not valid YAML"):
        read_yaml(file)


def test_a_file_that_is_no_yaml_is_named(tmp_path):
    (tmp_path / "presets").mkdir()
    (tmp_path / "presets" / "broken.yaml").write_text("title: [")
    user = {"preset": "broken", "data_root": "somewhere", "sources": {}}
    with pytest.raises(FlatlasError, match=r"broken\.yaml is not valid YAML"):
        resolve(user, tmp_path)


@pytest.mark.parametrize(
    ("text", "key", "line", "first"),
    [
        ("title: A\npaper: B\n\ntitle: C\n", "title", 4, 1),
        ("runs:\n  base: {batch: 5}\n  more: {}\n  base: {batch: 6}\n", "base", 4, 2),
        ("sweeps:\n- a: 1\n- {b: 1, c: 2, b: 3}\n", "b", 3, 3),
    ],
)
def test_a_key_that_a_mapping_has_twice(tmp_path, text, key, line, first):
    file = tmp_path / "twice.yaml"
    file.write_text(text)
    with pytest.raises(FlatlasError) as raised:
        read_yaml(file)
    said = f"{file}, line {line}: the key '{key}' is in line {first} already, in the same mapping"
    assert str(raised.value).startswith(said)


def test_keys_that_only_look_as_if_they_were_there_twice(tmp_path):
    """The same key in two mappings, under an anchor, and one that overrides a merged one."""
    file = tmp_path / "once.yaml"
    file.write_text(
        "few: &few {grid: {batch: [5]}, run: base}\n"
        "more: {<<: *few, run: other}\n"
        "most: &most {<<: *few, run: third}\n"
        "all: {<<: *most, run: fourth}\n"
        "same: *few\n"
    )
    read = read_yaml(file)
    assert [read[name]["run"] for name in ("few", "more", "most", "all", "same")] == [
        "base", "other", "third", "fourth", "base",
    ]  # fmt: skip


def test_a_file_that_holds_a_list_is_named(tmp_path):
    (tmp_path / "presets").mkdir()
    (tmp_path / "presets" / "list.yaml").write_text("- title")
    user = {"preset": "list", "data_root": "somewhere", "sources": {}}
    with pytest.raises(FlatlasError, match=r"list\.yaml must hold a mapping"):
        resolve(user, tmp_path)


@pytest.mark.parametrize("preset", sorted((ROOT / "config" / "presets").glob("*.yaml")))
def test_a_mistyped_key_in_a_shipped_preset_is_found(preset):
    """The shipped files go through the same door."""
    user = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    user |= {"preset": preset.stem, "studies": {"duality": {"realisations": 1}}}
    with pytest.raises(FlatlasError, match=r"duality\.realisations.*Did you mean 'realizations'"):
        resolve(user, ROOT / "config")


def test_a_preset_that_forgets_a_study_runs_nothing_at_full_scale(plan_of, tmp_path):
    write(tmp_path / "config" / "studies" / "mine.yaml", STUDY)
    with pytest.raises(
        FlatlasError, match=r"presets/small\.yaml: studies .* config/studies/mine"
    ) as said:
        plan_of()
    assert "mine: {}" in str(said.value)
    assert "mine" in plan_of(preset={"studies.mine": {}}).studies
    assert "mine" in plan_of(preset={"studies": {}}).studies, "a preset that changes nothing"
