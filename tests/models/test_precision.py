"""Products are exact while a model is measured, whatever a training has chosen."""

import json

import pytest
import torch
from torch import nn

import flatlas

CHOICES = {
    "one for all": "torch.set_float32_matmul_precision('medium')",
    "by product": "torch.backends.cuda.matmul.fp32_precision = 'tf32'",
    "of convolutions": "torch.backends.cudnn.conv.fp32_precision = 'ieee'",
}
# A process of its own, since torch can't take all choices back.
MEASURED = """
import json, sys
import torch
from torch import nn

cudnn, cuda, mkldnn = torch.backends.cudnn, torch.backends.cuda, torch.backends.mkldnn
PRODUCTS = cudnn.conv, cudnn.rnn, cuda.matmul, mkldnn.conv, mkldnn.rnn, mkldnn.matmul

def state():
    return [one.fp32_precision for one in PRODUCTS]

class Watched(nn.Linear):
    def forward(self, x):
        seen.append(state())
        return super().forward(x)

CHOSEN
import flatlas
seen, before = [], state()
flatlas.measure(Watched(3, 2), (torch.randn(8, 3), torch.arange(8) % 2), ["hessian"])
print(json.dumps([before, state(), sorted(set(map(tuple, seen)))]))
"""


@pytest.mark.skipif(
    not hasattr(torch.backends.cuda.matmul, "fp32_precision"), reason="torch below 2.9"
)
@pytest.mark.parametrize("chosen", CHOICES.values(), ids=CHOICES)
def test_float32_is_not_cut_to_tf32_and_the_choice_is_restored(python, chosen):
    before, after, seen = json.loads(python(MEASURED.replace("CHOSEN", chosen)))
    assert after == before
    assert seen and not {"tf32", "bf16"} & {one for each in seen for one in each}


class Watched(nn.Module):
    """Notes whether cuDNN may be used for each output that is differentiated."""

    def __init__(self, of):
        super().__init__()
        self.of, self.last, self.seen = of, nn.Linear(3, 2), set()

    def forward(self, x):
        if torch.is_grad_enabled():
            self.seen.add(torch.backends.cudnn.enabled)
        found = self.of(x)
        return self.last(found[0] if isinstance(found, tuple) else found)

    def __deepcopy__(self, memo):
        return self


@pytest.mark.parametrize(("of", "allowed"), [(nn.Linear(3, 3), True), (nn.LSTM(3, 3), False)])
def test_only_recurrent_layers_do_without_cudnn(of, allowed):
    model = Watched(of).double()
    flatlas.measure(model, (torch.randn(8, 3), torch.arange(8) % 2), ["hessian"])
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

    def __deepcopy__(self, memo):
        return self


class Named(nn.Linear):
    def forward(self, x):
        return {"logits": super().forward(x)}


@pytest.mark.parametrize("model", [nn.Linear(3, 2), Named(3, 2)])
def test_a_loss_of_ones_own_computes_in_the_models_precision(model):
    """A device without float64 could not take the numbers of the loss otherwise."""
    seen = set()
    data = (torch.randn(8, 3), torch.arange(8) % 2)
    flatlas.measure(model, data, ["hessian"], loss=Weighted(seen), dtype=torch.float32)
    assert seen == {torch.float32}
