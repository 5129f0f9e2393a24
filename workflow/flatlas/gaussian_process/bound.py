"""The PAC-Bayes bound on the error of functions that follows from their marginal likelihood."""

from math import expm1, log

from flatlas.errors import FlatlasError


def error_bound(log_prior: float, examples: int, confidence: float = 0.95) -> float:
    """The upper limit of the mean error of all functions that fit a sample, at this confidence.

    `log_prior` is log P(C), in nats: the marginal likelihood of the labels of n `examples`, which
    is the prior probability of the set C of functions that label all of them correctly. The mean
    ⟨ε⟩ is over C, weighted by the prior; one function of C may have a larger error. Examples must
    be independent and distributed like those on which ε is counted, and the prior must be chosen
    without them. If labels have noise, ε is the error with respect to the noisy labels.

    A function with the error ε is in C with the probability (1 − ε)^n. Take (1 − ε)^-n for
    functions in C, and 0 for others. The expectation over samples of its prior mean is at most 1,
    so this mean is at most 1/δ with the probability 1 − δ, the confidence (Markov). By Jensen's
    inequality −ln(1 − ⟨ε⟩) is then at most (ln 1/P(C) + ln 1/δ) / n. Valle-Pérez & Louis (2020)
    bound the error of a single function drawn from C, with further terms for that.
    """
    if not log_prior <= 0:
        raise FlatlasError(f"log_prior is {log_prior}. Allowed: the logarithm of a probability.")
    if examples < 1 or not 0 < confidence < 1:
        raise FlatlasError(
            f"examples are {examples} and confidence is {confidence}. Allowed: at least 1, and a "
            "number between 0 and 1."
        )
    return -expm1((log_prior + log(1 - confidence)) / examples)
