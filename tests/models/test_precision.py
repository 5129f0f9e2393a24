"""Products are exact while a model is measured, whatever a training has chosen."""

import json

import pytest
import torch
from torch import nn

import flatlas

cudnn, cuda, mkldnn = torch.backends.cudnn, torch.backends.cuda, torch.backends.mkldnn
CHOICES = {
    "one for all": lambda: torch.set_float32_matmul_precision("medium"),
    "by product": lambda: setattr(cuda.matmul, "fp32_precision", "tf32"),
    "of convolutions": lambda: setattr(cudnn.conv, "fp32_precision", "ieee"),
}
DATA = torch.randn(8, 3), torch.arange(8) % 2


def precisions():
    products = cudnn.conv, cudnn.rnn, cuda.matmul, mkldnn.conv, mkldnn.rnn, mkldnn.matmul
    return [one.fp32_precision for one in products]


@pytest.mark.skipif(not hasattr(cuda.matmul, "fp32_precision"), reason="torch below 2.9")
@pytest.mark.parametrize("choose", CHOICES.values(), ids=CHOICES)
def test_float32_is_not_cut_to_tf32_and_the_choice_is_restored(forked, tmp_path, choose):
    """In a process of its own, since torch can't take all choices back."""
    seen = []

    class Noting(nn.Linear):
        def forward(self, x):
            seen.extend(precisions())
            return super().forward(x)

    def measured():
        choose()
        before = precisions()
        flatlas.measure(Noting(3, 2), DATA, ["hessian"])
        (tmp_path / "found.json").write_text(json.dumps([before, precisions(), seen]))

    assert forked(measured) == 0
    before, after, seen = json.loads((tmp_path / "found.json").read_text())
    assert after == before
    assert seen and not {"tf32", "bf16"} & {*seen}


class Seen(set):
    """The same set in each copy of a module."""

    def __deepcopy__(self, memo):
        return self


class Watched(nn.Module):
    """Notes whether cuDNN may be used for each output that is differentiated."""

    def __init__(self, of):
        super().__init__()
        self.of, self.last, self.seen = of, nn.Linear(3, 2), Seen()

    def forward(self, x):
        if torch.is_grad_enabled():
            self.seen.add(torch.backends.cudnn.enabled)
        found = self.of(x)
        return self.last(found[0] if isinstance(found, tuple) else found)


@pytest.mark.parametrize(("of", "allowed"), [(nn.Linear(3, 3), True), (nn.LSTM(3, 3), False)])
def test_only_recurrent_layers_do_without_cudnn(of, allowed):
    model = Watched(of).double()
    flatlas.measure(model, DATA, ["hessian"])
    assert model.seen == {allowed}
    assert torch.backends.cudnn.enabled


class Weighted(nn.Module):
    """A user's own loss, with numbers of its own."""

    def __init__(self, seen):
        super().__init__()
        self.register_buffer("weight", torch.ones(2))
        self.seen = seen

    def forward(self, output, target):
        output = output["logits"] if isinstance(output, dict) else output
        self.seen.add(self.weight.dtype)
        return nn.functional.cross_entropy(output, target, self.weight.to(output))


class Named(nn.Linear):
    def forward(self, x):
        return {"logits": super().forward(x)}


@pytest.mark.parametrize("model", [nn.Linear(3, 2), Named(3, 2)])
def test_a_loss_of_ones_own_computes_in_the_models_precision(model):
    """A device without float64 could not take the numbers of the loss otherwise."""
    seen = Seen()
    flatlas.measure(model, DATA, ["hessian"], loss=Weighted(seen), dtype=torch.float32)
    assert seen == {torch.float32}
