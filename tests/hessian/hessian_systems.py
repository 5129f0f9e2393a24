"""Small nets with random weights and images, and their Hessians by automatic differentiation."""

import torch
from solutions import make_solution

from flatlas.hessian.loss import MeanLoss, flattened

DENSE = ("logistic", "one_hidden", "biases", "deep")
CONVOLUTIONAL = ("convolutional", "global_pool")


def system(name, outputs, images=30):
    made = make_solution(name, outputs, images)
    return made.net, made.parameters, made.inputs, made.labels


def full_hessian(net, parameters, inputs, labels):
    """The whole matrix, by backward passes."""
    (w,) = flattened(net, parameters)
    loss = MeanLoss(net, inputs, labels)
    return torch.autograd.functional.hessian(loss, w, vectorize=True)


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def rotated(eigenvalues):
    """A matrix with these eigenvalues and random eigenvectors."""
    shape = (len(eigenvalues),) * 2
    q = torch.linalg.qr(torch.randn(shape, generator=seeded(0), dtype=torch.float64)).Q
    return q @ (torch.as_tensor(eigenvalues).double().unsqueeze(1) * q.T)


def whole(hessian):
    """The whole matrix, from products with unit vectors."""
    return hessian.product(torch.eye(hessian.size, dtype=torch.float64))
