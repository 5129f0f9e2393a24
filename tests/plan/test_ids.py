"""Ids are readable, the same for the same values, and different for different ones."""

import hashlib
import inspect
import json
import re
from collections import defaultdict
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Literal, get_args, get_origin

import pytest
from pydantic import TypeAdapter
from small_configuration import RUN
from spec_variations import admitted, variations

from flatlas.plan import (
    data_specs,
    families,
    initializations,
    measure_specs,
    measurements,
    training_specs,
)
from flatlas.plan.data_specs import (
    AttackSpec,
    Digits,
    FunctionsSpec,
    NoiseSpec,
    SourceSpec,
    SubsetSpec,
)
from flatlas.plan.ids import measurement_id, run_id, samples_id, source_id
from flatlas.plan.measure_specs import MeasureSpec
from flatlas.plan.spec import Spec, digest
from flatlas.plan.training_specs import Adam, AdamW, RunSpec, Sgd

ONE_EACH = [
    import_module(f"{package.__name__}.{module.name}")
    for package in (families, measurements)
    for module in iter_modules(package.__path__)
]
IDENTITIES = {
    "sources": source_id,
    "samples": samples_id,
    "runs": run_id,
    "measurements": measurement_id,
}
SAMPLES, DENSE = RUN["samples"], RUN["net"]
# Specs that need two other settings, which no variation of one setting has.
CHECKPOINTS = [
    RUN
    | {
        "net": {"family": "own", "module": "nets:One", "weights": "one.safetensors"},
        "stop": {"epochs": 0},
        "expected": expected,
    }
    for expected in (
        *({"train_error": share} for share in (0.1, 0.2)),
        *({"train_loss": loss} for loss in (0.1, 0.2)),
    )
]


DROPPED = [
    RUN | {"net": DENSE | {"dropout": 0.1, "dropout_after": [layer]}} for layer in ("fc1", "fc2")
]


def run(**changes):
    return RunSpec.model_validate(RUN | changes)


@cache
def every(kind):
    """A spec of this kind for each value of each of its fields."""
    if kind == "sources":
        return [TypeAdapter(SourceSpec).validate_python(source) for source in admitted(SourceSpec)]
    models = {
        "samples": (SubsetSpec, NoiseSpec, AttackSpec, FunctionsSpec),
        "runs": (RunSpec,),
        "measurements": (MeasureSpec,),
    }
    plain = [
        model.model_validate(settings) for model in models[kind] for settings in variations(model)
    ]
    paired = [*CHECKPOINTS, *DROPPED] if kind == "runs" else []
    return [*plain, *map(RunSpec.model_validate, paired)]


@pytest.mark.parametrize("kind", IDENTITIES)
def test_an_id_is_a_file_name_and_names_one_spec(kind):
    different = {json.dumps(spec.resolved(), sort_keys=True): spec for spec in every(kind)}
    by_id = defaultdict(list)
    for resolved, spec in different.items():
        by_id[IDENTITIES[kind](spec)].append(resolved)
    assert [shared for shared in by_id.values() if len(shared) > 1] == []
    assert len(by_id) > 10
    assert all(re.fullmatch(r"[\w.-]+-[0-9a-f]{12}", identity) for identity in by_id)


@pytest.mark.parametrize("kind", IDENTITIES)
def test_the_spec_of_a_job_leaves_out_what_is_off(kind):
    for spec in every(kind):
        text = json.dumps(spec.resolved())
        assert "null" not in text
        assert type(spec).model_validate(json.loads(text)) == spec


def test_the_variations_vary_every_field_of_every_spec():
    seen = defaultdict(set)
    for spec in (spec for kind in IDENTITIES for spec in every(kind)):
        note_values(spec, seen)
    modules = (data_specs, initializations, training_specs, measure_specs, *ONE_EACH)
    specs = {one for module in modules for one in vars(module).values() if inspect.isclass(one)}
    # A base class is no spec of its own; the classes derived from it are.
    specs = {one for one in specs if issubclass(one, Spec) and not one.__subclasses__()}
    fields = {(one, name) for one in specs for name in one.model_fields if not is_tag(one, name)}
    assert {field for field in fields if len(seen[field]) < 2} == set()


def note_values(value, seen):
    """Add every value of every field of a spec, at any depth, to `seen`."""
    if isinstance(value, tuple):
        for item in value:
            note_values(item, seen)
    elif isinstance(value, Spec):
        for name in type(value).model_fields:
            seen[type(value), name].add(repr(getattr(value, name)))
            note_values(getattr(value, name), seen)


def is_tag(model, name):
    """Whether a field admits a single value, which distinguishes the members of a union."""
    annotation = model.model_fields[name].annotation
    return get_origin(annotation) is Literal and len(get_args(annotation)) == 1


def test_ids_say_which_data_net_and_optimizer_they_name():
    noisy = {"subset": SAMPLES, "fraction": 0.2, "seeds": [0, 1]}
    attacked = {"subset": SAMPLES, "size": 250, "seeds": [0, 1]}
    boolean = {"source": {"kind": "boolean"}, "net": DENSE, "draws": 10**7, "count": 1000}
    learners = {"kind": "dpsgd", "count": 4}
    slugs = {
        "boolean-1000functions-dense30x30-sgd0.1-b25": run(samples=boolean),
        "mnist-400pc-dense30x30-sgd0.1-b25": run(),
        "mnist-400pc-noise0.2-dense30x30-sgd0.1-full": run(samples=noisy, batch="full"),
        "mnist-400pc-attack250-dense30x30-sgd0.1-dpsgd4-b25": run(
            samples=attacked, learners=learners
        ),
    }
    assert [run_id(spec).rpartition("-")[0] for spec in slugs.values()] == [*slugs]


def test_a_folder_of_images_goes_by_its_own_name():
    pets = {"kind": "folder", "path": "animals/pets", "classes": 2}
    spec = run(samples=SAMPLES | {"source": pets})
    assert source_id(spec.samples.source).rpartition("-")[0] == "pets"
    assert run_id(spec).startswith("pets-400pc-dense30x30-")
    for path in (".", "..", "animals/.."):
        named = spec.samples.source.model_copy(update={"path": path})
        assert source_id(named).startswith("folder-"), path
    others = spec.samples.source.model_copy(update={"path": "plants/pets"})
    assert source_id(others) != source_id(spec.samples.source)


def test_a_value_that_the_slug_rounds_still_changes_the_id():
    assert run_id(run(optimizer={"name": "sgd", "lr": 0.1000001})) != run_id(run())


def test_a_digest_hashes_the_chosen_values_as_compact_sorted_json():
    by_hand = hashlib.sha256(b'{"lr":0.1,"name":"sgd"}').hexdigest()[:12]
    assert digest(Sgd(lr=0.1, name="sgd")) == by_hand


def test_equal_values_have_one_id_however_they_are_written():
    plain = run(optimizer={"name": "sgd", "lr": 1}, penalty={})
    spelled_out = run(
        optimizer={"lr": 1.0, "name": "sgd"},
        net=DENSE | {"bias": False, "init": {"scheme": "xavier_uniform", "scale": 1.0}},
        penalty={"coefficient": 0.0, "form": "squared", "until_epoch": None},
    )
    assert run_id(plain) == run_id(spelled_out)


def test_a_new_field_with_a_default_changes_no_id():
    class SgdWithMore(Sgd):
        clip: float = 0.0

    before, after = Sgd(name="sgd", lr=0.1), SgdWithMore(name="sgd", lr=0.1)
    assert digest(after) == digest(before)
    assert digest(SgdWithMore(name="sgd", lr=0.1, clip=1.0)) != digest(before)


def test_a_new_option_that_is_off_leaves_the_spec_of_a_job_as_it_is():
    class RunWithMore(RunSpec):
        clip: float | None = None

    assert RunWithMore.model_validate(RUN).resolved() == run().resolved()
    switched_on = RunWithMore.model_validate(RUN | {"clip": 1.0})
    assert switched_on.resolved() == run().resolved() | {"clip": 1.0}


def test_the_tag_of_a_union_is_part_of_the_id():
    assert Adam(name="adam").lr == AdamW(name="adamw").lr
    assert digest(Adam(name="adam")) != digest(AdamW(name="adamw"))


def test_the_spec_of_a_job_includes_default_values():
    assert Digits(kind="digits").resolved() == {"kind": "digits"}
    assert run().resolved()["net"]["init"] == {"scheme": "xavier_uniform", "scale": 1.0}


def test_ids_are_the_same_in_another_process(python):
    code = (
        "import json, sys; from flatlas.plan.ids import run_id;"
        "from flatlas.plan.training_specs import RunSpec;"
        "print(run_id(RunSpec.model_validate(json.loads(sys.argv[1]))))"
    )
    for hash_seed in "12":
        assert python(code, json.dumps(RUN), PYTHONHASHSEED=hash_seed).strip() == run_id(run())
