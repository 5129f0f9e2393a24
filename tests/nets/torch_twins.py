"""One member of a stacked net, rebuilt from the modules of torch.nn."""

from torch import nn


def torch_twin(spec, parameters, member):
    """The net of `spec` with this member's weights; every shape is the weights' own."""
    modules = []
    for number, stage in enumerate(getattr(spec, "stages", ()), start=1):
        outputs, inputs, kernel, _ = parameters[f"conv{number}.weight"].shape[1:]
        convolution = nn.Conv2d(inputs, outputs, kernel, stage.stride, stage.padding)
        _load(convolution, parameters, f"conv{number}", member)
        modules += [convolution, nn.ReLU(), nn.MaxPool2d(stage.pool)]
    if getattr(spec, "global_pool", False):
        modules.append(nn.AdaptiveAvgPool2d(1))
    modules.append(nn.Flatten())
    for number in range(1, len(spec.hidden) + 2):
        inputs, outputs = parameters[f"fc{number}.weight"].shape[1:]
        linear = nn.Linear(inputs, outputs)
        _load(linear, parameters, f"fc{number}", member)
        modules += [linear, nn.ReLU()]
    return nn.Sequential(*modules[:-1])


def _load(module, parameters, name, member):
    weight = parameters[f"{name}.weight"][member]
    module.weight = nn.Parameter(weight.T if weight.dim() == 2 else weight)
    bias = parameters.get(f"{name}.bias")
    module.bias = None if bias is None else nn.Parameter(bias[member])
