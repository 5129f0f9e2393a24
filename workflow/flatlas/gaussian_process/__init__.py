"""The Gaussian process that a net is at initialization, and the probability it gives a function.

A function f is a pattern of signs on some images. Its prior P(f) (App. D) is an orthant probability
of N(0, K): `prior` approximates it by expectation propagation, which is what the paper does, and
`orthant` and `variational` check how accurate that is.
"""
