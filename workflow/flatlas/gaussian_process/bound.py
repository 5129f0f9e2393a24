"""The bound on the error of a function that follows from its prior probability."""

from math import expm1, inf, log

from flatlas.errors import FlatlasError


def error_bound(log_prior: float, examples: int, confidence: float = 0.95) -> float:
    """What the mean error of functions with these labels exceeds only with a probability δ.

    `log_prior` is log P(C), in nats, of all functions that label the `examples` independent
    examples as they are labelled: the marginal likelihood. The mean is over these functions,
    weighted by their prior. For each of them with error ε, all labels are right with the
    probability (1 − ε)^n. So E (1 − ε)^-n over the prior, of functions that label a sample rightly,
    is at most 1 in the mean over samples, and with the probability 1 − δ at most 1/δ. By Jensen's
    inequality −ln(1 − ⟨ε⟩) is then at most (ln 1/P(C) + ln 1/δ) / n: the bound of Valle-Pérez &
    Louis (2020) without its term ln n. Like theirs, it needs labels without noise.
    """
    if log_prior > 0:
        raise FlatlasError(f"log_prior is {log_prior}. Allowed: the logarithm of a probability.")
    if examples < 1 or not 0 < confidence < 1:
        raise FlatlasError(
            f"examples are {examples} and confidence is {confidence}. Allowed: at least 1, and a "
            "number between 0 and 1."
        )
    if log_prior == -inf:
        return 1.0
    return -expm1((log_prior + log(1 - confidence)) / examples)
