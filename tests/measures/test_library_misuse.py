"""What the library refuses, in a sentence and before it computes; what it takes all the same."""

import re

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from flatlas.errors import FlatlasError
from flatlas.measures import own
from flatlas.measures.own import solution_of, take

OUTPUTS = 3


def module(outputs=OUTPUTS):
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, outputs))


@pytest.fixture
def arguments():
    random = torch.Generator().manual_seed(1)
    return {
        "images": torch.rand(20, 2, 2, 2, generator=random),
        "labels": torch.arange(20) % OUTPUTS,
        "test_images": torch.rand(10, 2, 2, 2, generator=random),
        "test_labels": torch.arange(10) % OUTPUTS,
    }


def spoilt(images, value):
    images = images.clone()
    images[7, 1, 0, 1] = value
    return images


def relabelled(labels, value):
    labels = labels.clone()
    labels[4] = value
    return labels


OF_IMAGES = {
    "uint8": (lambda images: (images * 255).byte(), r"torch\.uint8.*images / 255"),
    "integers": (lambda images: images.long(), r"torch\.int64"),
    "complex": (lambda images: images.to(torch.complex64), r"torch\.complex64"),
    "NaN": (lambda images: spoilt(images, torch.nan), r"\[7\] has NaN or infinite"),
    "infinity": (lambda images: spoilt(images, -torch.inf), r"\[7\] has NaN or infinite"),
    "numpy": (lambda images: images.numpy(), r"ndarray.*torch\.as_tensor"),
    "a list": (lambda images: images.tolist(), "list"),
    "no channels": (lambda images: images[:, 0], r"shape \(\d+, 2, 2\)"),
    "a single one": (lambda images: images[0], r"shape \(2, 2, 2\)"),
    "none": (lambda images: images[:0], r"shape \(0, 2, 2, 2\)"),
    "without values": (lambda images: images.to("meta"), "meta device.* on the CPU"),
    "sparse": (lambda images: images.to_sparse(), r"layout sparse_coo.*to_dense\(\)"),
    "nested": (
        lambda images: torch.nested.nested_tensor([*images], layout=torch.jagged),
        "layout nested",
    ),
}
OF_LABELS = {
    "ignored": (lambda labels: relabelled(labels, -100), r"\[4\] is -100; 1 of .* 0 to 2"),
    "no output": (lambda labels: relabelled(labels, OUTPUTS), r"\[4\] is 3; 1 of .* 0 to 2"),
    "from 1": (lambda labels: labels + 1, r"\[2\] is 3"),
    "one-hot": (one_hot, r"argmax\(1\)"),
    "too few": (lambda labels: labels[:-1], r"shape \(\d+,\), but there are"),
    "floats": (lambda labels: labels.float(), r"torch\.float32.*labels\.long\(\)"),
    "truth values": (lambda labels: labels > 0, r"torch\.bool"),
    "numpy": (lambda labels: labels.numpy(), "ndarray"),
    "without values": (lambda labels: labels.to("meta"), "meta device"),
    "sparse": (lambda labels: labels.to_sparse(), "layout sparse_coo"),
    "a list": (lambda labels: labels.tolist(), "list"),
}
SPOILT = [
    pytest.param(name, *case, id=f"{name}, {what}")
    for kind, cases in (("images", OF_IMAGES), ("labels", OF_LABELS))
    for name in (kind, f"test_{kind}")
    for what, case in cases.items()
]


@pytest.mark.parametrize(("name", "spoil", "said"), SPOILT)
def test_images_and_labels_that_no_measure_can_use_are_refused(arguments, name, spoil, said):
    with pytest.raises(FlatlasError, match=f"^{name}.*{said}"):
        solution_of(module(), **arguments | {name: spoil(arguments[name])})


@pytest.mark.parametrize("name", ["labels", "test_labels"])
def test_a_net_with_one_output_has_labels_0_and_1(arguments, name):
    binary = arguments | {one: arguments[one] % 2 for one in ("labels", "test_labels")}
    assert take("norms", solution_of(module(1), **binary))
    with pytest.raises(FlatlasError, match=rf"^{name}\[2\] is 2; .* with 1 output: 0 to 1"):
        solution_of(module(1), **binary | {name: arguments[name]})


def test_images_of_two_shapes_are_refused(arguments):
    other = arguments | {"test_images": torch.rand(10, 8, 1, 1)}
    with pytest.raises(FlatlasError, match=r"test_images.*\(8, 1, 1\).*\(2, 2, 2\)"):
        solution_of(module(), **other)


def test_images_that_do_not_fit_the_net_are_refused(arguments):
    larger = {name: torch.rand(len(arguments[name]), 2, 3, 3) for name in arguments if "im" in name}
    with pytest.raises(FlatlasError, match=r"can't take images of shape \(2, 3, 3\)"):
        solution_of(module(), **arguments | larger)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int32])
def test_short_integers_are_labels(arguments, dtype):
    short = {name: arguments[name].to(dtype) for name in arguments if "labels" in name}
    found, expected = (
        take("norms", solution_of(module(), **given))["summary"]
        for given in (arguments | short, arguments)
    )
    assert found.equals(expected)


@pytest.mark.parametrize("given", [nn.Linear, module().state_dict(), lambda images: images])
def test_what_is_no_module_is_refused(arguments, given):
    with pytest.raises(FlatlasError, match=r"^module .* Allowed: an nn\.Module"):
        solution_of(given, **arguments)


def with_weight(form):
    net = module()
    net[1].weight = nn.Parameter(form(net[1].weight.detach()))
    return net


MODULES = {
    "without values": (lambda: module().to("meta"), "'1.weight' on the meta device"),
    "sparse": (lambda: with_weight(Tensor.to_sparse), "'1.weight' .*layout sparse_coo"),
    "in rows": (lambda: with_weight(Tensor.to_sparse_csr), "'1.weight' .*layout sparse_csr"),
}


@pytest.mark.filterwarnings("ignore:Sparse CSR")
@pytest.mark.parametrize(("make", "said"), MODULES.values(), ids=MODULES)
def test_a_module_without_dense_weights_is_refused(arguments, make, said):
    with pytest.raises(FlatlasError, match=f"^module has {said}"):
        solution_of(make(), **arguments)


@pytest.mark.parametrize("given", [module(), None, {"net": 1}])
def test_a_measure_takes_only_a_solution(given):
    with pytest.raises(FlatlasError, match=r"solution_of\("):
        take("hessian", given)


def test_arguments_in_the_wrong_order_are_refused(arguments):
    with pytest.raises(FlatlasError, match="solution is of type str"):
        take(solution_of(module(), **arguments), "hessian")


def test_gradients_that_are_off_are_switched_on(arguments):
    solution = solution_of(module(), **arguments)
    expected = take("regret", solution, batch=4, pairs=3)["summary"]
    with torch.no_grad():
        found = take("regret", solution_of(module(), **arguments), batch=4, pairs=3)["summary"]
    assert found.equals(expected)


def wide(hidden):
    """Its weights are all 0: drawing so many would take seconds."""
    with torch.device("meta"):
        net = nn.Sequential(nn.Flatten(), nn.Linear(8, hidden), nn.ReLU(), nn.Linear(hidden, 3))
    net = net.to_empty(device="cpu")
    for value in net.parameters():
        value.data.zero_()
    return net


TOO_LARGE = {
    "eigenvalues": ("hessian", {"top": 10**5}),
    "density": ("spectral_density", {"steps": 10**5}),
    "duality": ("duality", {"layer": "fc"}),
    "flatness": ("flatness", {"layer": "fc"}),
    "pairs": ("regret", {"pairs": 10**5}),
}


@pytest.mark.parametrize(("name", "options"), TOO_LARGE.values(), ids=TOO_LARGE)
def test_what_no_memory_holds_is_refused_before_it_is_asked_for(arguments, name, options):
    solution = solution_of(wide(200_000), **arguments)
    with pytest.raises(
        FlatlasError, match=r"needs up to about [\d,]{4,}\.\d GB .* 2,400,003 weights"
    ):
        take(name, solution, **options)


def test_a_limit_of_memory_may_be_given(arguments):
    solution = solution_of(module(), **arguments)
    with pytest.raises(FlatlasError, match=r"0\.\d GB.*memory_gb=1\."):
        take("hessian", solution, top=1, memory_gb=1e-9)
    assert take("hessian", solution, top=1, probes=2, memory_gb=1)


def test_what_takes_long_says_so_before_it_begins(arguments, caplog, monkeypatch):
    begun = []
    monkeypatch.setattr(own, "measure", lambda *_: begun.append(len(caplog.records)))
    take("hessian", solution_of(module(), **arguments), top=2)
    take("hessian", solution_of(wide(20_000), **arguments), top=50, memory_gb=100)
    assert begun == [0, 1]
    assert re.search(r"take\('hessian'\) may take up to about \d+ minutes", caplog.text)


def test_more_eigenvalues_than_weights_need_no_more_memory(arguments):
    found = take("hessian", solution_of(module(), **arguments), top=10**6)
    assert len(found["eigenvalues"]) == 8 * 4 + 4 + 4 * OUTPUTS + OUTPUTS
