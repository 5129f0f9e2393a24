"""Ids: readable, the same for the same values, and never the same for different ones."""

import hashlib
import inspect
import json
import re
import subprocess
import sys
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Literal, get_args, get_origin

import pytest
from pydantic import TypeAdapter, ValidationError
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
WORKFLOW = Path(inspect.getfile(Spec)).parents[2]


def every_source():
    return [TypeAdapter(SourceSpec).validate_python(source) for source in admitted(SourceSpec)]


def every(model):
    return [model.model_validate(settings) for settings in variations(model)]


KINDS = {
    "sources": (every_source, source_id),
    "samples": (
        lambda: every(SubsetSpec) + every(NoiseSpec) + every(AttackSpec) + every(FunctionsSpec),
        samples_id,
    ),
    "runs": (lambda: every(RunSpec), run_id),
    "measurements": (lambda: every(MeasureSpec), measurement_id),
}
DENSE = {"family": "dense", "hidden": [30, 30]}
RUN = {
    "samples": {
        "source": {"kind": "mnist"},
        "per_class": 400,
        "test_size": 2000,
        "seeds": [0, 1],
    },
    "net": DENSE,
    "optimizer": {"name": "sgd", "lr": 0.1},
    "batch": 25,
    "stop": {"epochs": 10},
    "input_shape": [1, 28, 28],
    "outputs": 10,
    "seeds": [0, 1],
}


def run(**changes):
    return RunSpec.model_validate(RUN | changes)


@pytest.mark.parametrize("kind", KINDS)
def test_two_different_specs_never_share_an_id(kind):
    make, identity = KINDS[kind]
    different = {json.dumps(spec.resolved(), sort_keys=True): spec for spec in make()}
    by_id = defaultdict(list)
    for resolved, spec in different.items():
        by_id[identity(spec)].append(resolved)
    assert [shared for shared in by_id.values() if len(shared) > 1] == []
    assert len(by_id) > 10


def test_the_variations_vary_every_field_of_every_spec():
    seen = defaultdict(set)
    for make, _ in KINDS.values():
        for spec in make():
            note_values(spec, seen)
    rooms = (data_specs, initializations, training_specs, measure_specs, *ONE_EACH)
    specs = {one for room in rooms for one in vars(room).values() if inspect.isclass(one)}
    # A base stands nowhere itself; what is built on it does.
    specs = {one for one in specs if issubclass(one, Spec) and not one.__subclasses__()}
    fields = {(one, name) for one in specs for name in one.model_fields if not is_tag(one, name)}
    assert {field for field in fields if len(seen[field]) < 2} == set()


def note_values(value, seen):
    """Every value of every field, wherever in a spec it stands."""
    if isinstance(value, tuple):
        for item in value:
            note_values(item, seen)
    elif isinstance(value, Spec):
        for name in type(value).model_fields:
            seen[type(value), name].add(repr(getattr(value, name)))
            note_values(getattr(value, name), seen)


def is_tag(model, name):
    """A field that admits a single value can't be varied; it tells a union's members apart."""
    annotation = model.model_fields[name].annotation
    return get_origin(annotation) is Literal and len(get_args(annotation)) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_an_id_is_a_file_name_and_ends_in_a_digest(kind):
    make, identity = KINDS[kind]
    for spec in make():
        assert re.fullmatch(r"[\w.-]+-[0-9a-f]{12}", identity(spec))


def test_ids_read_like_what_they_name():
    noisy = {"subset": RUN["samples"], "fraction": 0.2, "seeds": [0, 1]}
    attacked = {"subset": RUN["samples"], "size": 250, "seeds": [0, 1]}
    boolean = {"source": {"kind": "boolean"}, "net": DENSE, "draws": 10**7, "count": 1000}
    learners = {"kind": "dpsgd", "count": 4}
    spelled = {
        "boolean-1000functions-dense30x30-sgd0.1-b25": run(samples=boolean),
        "mnist-400pc-dense30x30-sgd0.1-b25": run(),
        "mnist-400pc-noise0.2-dense30x30-sgd0.1-bfull": run(samples=noisy, batch="full"),
        "mnist-400pc-attack250-dense30x30-sgd0.1-dpsgd4-b25": run(
            samples=attacked, learners=learners
        ),
    }
    slugs = {name: run_id(spec).rpartition("-")[0] for name, spec in spelled.items()}
    assert slugs == {name: name.replace("bfull", "full") for name in spelled}


def test_a_folder_of_images_goes_by_its_own_name():
    pets = {"kind": "folder", "path": "animals/pets", "classes": 2}
    spec = run(samples=RUN["samples"] | {"source": pets})
    assert source_id(spec.samples.source).rpartition("-")[0] == "pets"
    assert run_id(spec).startswith("pets-400pc-dense30x30-")
    others = spec.samples.source.model_copy(update={"path": "plants/pets"})
    assert source_id(others) != source_id(spec.samples.source)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            {"net": DENSE | {"init": {"scheme": "xavier_uniform"}}},
            {"net": DENSE | {"init": {"scheme": "he_normal"}}},
        ),
        (
            {"samples": RUN["samples"] | {"source": {"kind": "mnist"}}},
            {"samples": RUN["samples"] | {"source": {"kind": "digits"}}},
        ),
        ({"optimizer": {"name": "adam"}}, {"optimizer": {"name": "rmsprop"}}),
        ({"seeds": [0, 1]}, {"seeds": [0, 2]}),
        ({"seeds": [0, 1]}, {"seeds": [1, 0]}),
        (
            {"optimizer": {"name": "sgd", "lr": 0.1}},
            {"optimizer": {"name": "sgd", "lr": 0.1000001}},
        ),
    ],
)
def test_what_a_slug_does_not_show_still_moves_the_id(one, other):
    assert run_id(run(**one)) != run_id(run(**other))


def test_a_digest_hashes_what_was_chosen_as_compact_sorted_json():
    by_hand = hashlib.sha256(b'{"lr":0.1,"name":"sgd"}').hexdigest()[:12]
    assert digest(Sgd(lr=0.1, name="sgd")) == by_hand


def test_how_a_value_is_written_does_not_matter():
    plain = run(optimizer={"name": "sgd", "lr": 1}, penalty={})
    spelled_out = run(
        optimizer={"lr": 1.0, "name": "sgd"},
        net=DENSE | {"bias": False, "init": {"scheme": "xavier_uniform", "scale": 1.0}},
        penalty={"coefficient": 0.0, "form": "squared", "until_epoch": None},
    )
    assert run_id(plain) == run_id(spelled_out)


def test_a_new_field_with_a_default_moves_no_id():
    class SgdWithMore(Sgd):
        clip: float = 0.0

    before, after = Sgd(name="sgd", lr=0.1), SgdWithMore(name="sgd", lr=0.1)
    assert digest(after) == digest(before)
    assert digest(SgdWithMore(name="sgd", lr=0.1, clip=1.0)) != digest(before)


def test_a_new_option_that_is_off_by_default_changes_nothing_that_a_job_is_given():
    class RunWithMore(RunSpec):
        clip: float | None = None

    before, after = run(), RunWithMore.model_validate(RUN)
    assert after.resolved() == before.resolved()
    assert digest(after) == digest(before)
    switched_on = RunWithMore.model_validate(RUN | {"clip": 1.0})
    assert switched_on.resolved() == before.resolved() | {"clip": 1.0}
    assert digest(switched_on) != digest(before)


def test_the_tag_of_a_union_counts_where_all_the_rest_is_default():
    assert Adam(name="adam").lr == AdamW(name="adamw").lr
    assert digest(Adam(name="adam")) != digest(AdamW(name="adamw"))


def test_a_job_is_given_every_value_defaults_included():
    assert Digits(kind="digits").resolved() == {"kind": "digits"}
    assert run().resolved()["net"]["init"] == {"scheme": "xavier_uniform", "scale": 1.0}


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_job_is_given_is_the_spec_again_without_what_is_off(kind):
    make, _ = KINDS[kind]
    for spec in make():
        text = json.dumps(spec.resolved())
        assert "null" not in text
        assert type(spec).model_validate(json.loads(text)) == spec


def test_a_measure_is_told_by_the_tag_of_its_options():
    options = {"measure": "duality", "layer": "fc1"}
    spec = MeasureSpec.model_validate({"options": options, "run": RUN})
    assert spec.resolved().keys() == {"options", "run"}
    assert spec.resolved()["options"]["measure"] == "duality"
    for wrong in ({"layer": "fc1"}, options | {"measure": "another"}):
        with pytest.raises(ValidationError, match="measure"):
            MeasureSpec.model_validate({"options": wrong, "run": RUN})


def test_ids_are_the_same_in_another_process():
    code = (
        "import json, sys; from flatlas.plan.ids import run_id;"
        "from flatlas.plan.training_specs import RunSpec;"
        "print(run_id(RunSpec.model_validate(json.loads(sys.argv[1]))))"
    )
    for hash_seed in "12":
        env = {"PYTHONPATH": str(WORKFLOW), "PYTHONHASHSEED": hash_seed}
        again = subprocess.run(
            [sys.executable, "-c", code, json.dumps(RUN)],
            env=env, check=True, capture_output=True, text=True,
        )  # fmt: skip
        assert again.stdout.strip() == run_id(run())
