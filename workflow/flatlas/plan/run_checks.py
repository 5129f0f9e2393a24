"""Checks of a run that need more than one value: its net, files, data and minibatches."""

from pathlib import Path

from flatlas.errors import FlatlasError
from flatlas.plan import own_module
from flatlas.plan.data_specs import Boolean, SourceSpec
from flatlas.plan.families import NetSpec
from flatlas.plan.families.own import Own
from flatlas.plan.family import ModuleFamily, Shape
from flatlas.plan.fingerprint import closure, find, is_own
from flatlas.plan.measurements.measurement import without_next
from flatlas.plan.mistakes import Origin, refuse
from flatlas.plan.named_layers import LINEAR, check_frozen, check_layer, check_layers
from flatlas.plan.source_sizes import images_of_each_class, images_to_train_on
from flatlas.plan.studies import Data, Run
from flatlas.plan.training_specs import RunSpec, given_to


def check_net(run: Run, origin: Origin) -> set[str]:
    """Check a net's layers and files. Returns the files of a user's own net."""
    files = _check_weights(run.net, origin)
    if isinstance(run.net, Own):
        files |= _check_own(run.net, origin)
    if run.snapshots is not None:
        check_layers([run.snapshots], run, origin(("snapshots",)), LINEAR)
    if run.rescaling is not None:
        check_layer(run.rescaling.layer, "dense", run, origin(("rescaling", "layer")))
        for key, why in without_next(run.rescaling.layer, run):
            raise FlatlasError(f"{origin(('rescaling', key))} {why}")
    if run.frozen is not None:
        check_frozen(run.frozen, run, origin(("frozen",)))
    return files


def check_sizes(net: NetSpec, shape: Shape, outputs: int, origin: Origin) -> None:
    """Refuse options that do not fit the images, or that reduce an image to nothing."""
    for place, why in net.misfits(shape):
        raise FlatlasError(f"{origin(('net', *place))} {why}")
    for number, size in enumerate(net.layer_sizes(shape, outputs), start=1):
        if not (size.weights and size.places):
            raise FlatlasError(
                f"{origin(('net',))} leaves nothing of an image of {shape[1]} x {shape[2]} in "
                f"layer {number}: use smaller kernels, strides or pools, or fewer layers."
            )


def check_batch(run: Run, images: int, origin: Origin) -> None:
    """Refuse minibatches that need more images than a realization has."""
    learners = run.learner_count
    if learners > images:
        raise FlatlasError(
            f"{origin(('learners', 'count'))} is {learners}, but a realization has {images:,} "
            "training images. Allowed: at most as many learners."
        )
    if run.batch != "full" and run.batch * learners > images:
        each = f" for each of {learners} learners" if run.learners else ""
        raise FlatlasError(
            f"{origin(('batch',))} is {run.batch}{each}, but a realization has "
            f"{images:,} training images. Allowed: at most {images // learners:,}, or full."
        )


def check_normalized(run: RunSpec, origin: Origin) -> None:
    """Refuse a last minibatch of one image where batch norm would have one number a channel."""
    if not (isinstance(run.net, ModuleFamily) and run.net.batch_norm and run.stop.epochs):
        return
    *inner, _ = run.net.layer_sizes(run.input_shape, run.outputs)
    before = (run.steps_in_epoch - 1) * run.minibatch * run.learner_count
    last = (images_to_train_on(run.samples) - before) // run.learner_count
    if last == 1 and any(size.places == 1 for size in inner):
        each = " of a learner" if run.learners else ""
        raise FlatlasError(
            f"{origin(('batch',))} is {run.batch}, which leaves one image for the last minibatch"
            f"{each}, but this net reduces an image to one pixel, so its batch norm needs two. "
            "Choose another batch, or another number of training images."
        )


def _check_weights(net: NetSpec, origin: Origin) -> set[str]:
    """The file of given weights. It must exist, but is not read."""
    weights = given_to(net)
    if weights is None:
        return set()
    if not Path(weights).is_file():
        place = origin(("net", "weights"))
        raise FlatlasError(f"{place} is '{weights}', but {Path.cwd()} has no such file.")
    return {weights}


def _check_own(net: Own, origin: Origin) -> set[str]:
    """The modules of a user's own net, which are read as text."""
    where, _, what = net.module.partition(":")
    module = find(where)
    if module is None:
        place, file = origin(("net", "module")), where.replace(".", "/")
        raise FlatlasError(f"{place} is '{net.module}', but {Path.cwd()} has no {file}.py.")
    place = f"{origin(('net', 'module'))} is '{net.module}'"
    try:
        imported = [find(one) for one in closure([module]) if isinstance(one, str)]
    except FlatlasError as error:
        raise FlatlasError(f"{place}, but not valid Python: {error}") from error
    own_module.check(module, what, net.arguments, place, origin(("net", "arguments")))
    here = Path.cwd()
    own = {module, *(file for file in imported if file and is_own(file))}
    return {str(file.relative_to(here)) for file in own}


def check_data(run: Run, source: SourceSpec, classes: int, origin: Origin) -> None:
    """Refuse data that the source does not have."""
    if isinstance(source, Boolean) != bool(run.data.functions):
        raise FlatlasError(
            f"{origin(('data',))}: a source of kind boolean has no labels except those of "
            "functions, and functions need such a source: set both, or neither."
        )
    if run.data.functions and not run.net.only_dense:
        raise FlatlasError(
            f"{origin(('data', 'functions'))} are counted only for dense nets, not for family "
            f"'{run.net.family}': the inputs are rows of bits. Allowed: dense."
        )
    _check_classes(run.data, classes, origin)


def _check_classes(data: Data, classes: int, origin: Origin) -> None:
    """Refuse classes that the source does not have, and a task with only one label."""
    if classes < 2:
        raise FlatlasError(
            f"{origin(('data', 'source'))} has one class, but a task needs two: give the source "
            "a folder for each of two classes or more."
        )
    there = range(classes)
    picked = there if data.classes is None else data.classes
    for key, allowed in (("classes", there), ("only", picked), ("positive", picked)):
        for number in getattr(data, key) or ():
            if number not in allowed:
                refuse(origin(("data", key)), str(number), map(str, allowed))
    if data.positive is None:
        return
    drawn, place = set(data.only or picked), origin(("data", "positive"))
    of_only = " of data.only" if data.only else ""
    if drawn <= set(data.positive):
        raise FlatlasError(
            f"{place} names all classes{of_only}, so that every label is 1: leave out some."
        )
    if drawn.isdisjoint(data.positive):
        raise FlatlasError(
            f"{place} names no class{of_only}, so that every label is 0: name one of them."
        )


def check_wrong_labels(data: Data, source: SourceSpec, images: int, origin: Origin) -> None:
    """Refuse label noise of none or all of the clean `images`, and wrong labels of one class."""
    noise, attack = data.label_noise, data.attack_size
    if (noise or attack) and data.positive is None and data.only and len(data.only) == 1:
        key = "label_noise" if noise else "attack_size"
        raise FlatlasError(
            f"{origin(('data', 'only'))} is [{data.only[0]}], but wrong labels need two classes: "
            f"name another one, or leave out {key}."
        )
    wrong = round(noise * images)
    # With `at_most`, a source of unknown size may have fewer images.
    known = not data.at_most or images_of_each_class(source) is not None
    if noise and known and wrong in (0, images):
        raise FlatlasError(
            f"{origin(('data', 'label_noise'))} is {noise:g}, which makes {wrong} of {images} "
            "labels wrong: choose a fraction that leaves at least one right and makes at least "
            "one wrong."
        )
