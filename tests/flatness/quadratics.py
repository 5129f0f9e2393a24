"""Losses in closed form."""

import torch


class Quadratic:
    """½ (w − c)ᵀ H (w − c) + slope·(w − c) + least, looked at from w = c."""

    def __init__(self, hessian, centre=None, slope=None, least=0.0):
        self.hessian = hessian
        size = len(hessian)
        zero = torch.zeros(size, dtype=torch.float64)
        self.w = self.centre = zero if centre is None else centre
        self.slope = zero if slope is None else slope
        self.least = least
        self.shapes, self.size = {"w": torch.Size([size])}, size

    def value(self, w):
        away = w - self.centre
        return away @ self.hessian @ away / 2 + self.slope @ away + self.least

    def value_and_gradient(self, w):
        return self.value(w), self.hessian @ (w - self.centre) + self.slope

    def hessian_product(self, vectors):
        return vectors @ self.hessian


def positive_definite(size):
    random = torch.Generator().manual_seed(0)
    root = torch.randn(size, size, generator=random, dtype=torch.float64)
    return root @ root.T / size + 0.1 * torch.eye(size, dtype=torch.float64)
