"""One independent random stream for each (seed, purpose).

A realization has one seed. Each thing drawn for it (subset, attack set, weights, shuffling,
dropout) has its own stream, so drawing more of one never changes another.
"""

import zlib

import numpy as np


def stream(seed: int, purpose: str) -> int:
    """A 63-bit seed for the generator that draws `purpose` in the realization `seed`.

    torch's generator on the CPU uses 32 of the bits: among a thousand streams two coincide with a
    probability of about one in ten thousand.
    """
    sequence = np.random.SeedSequence([seed, zlib.crc32(purpose.encode())])
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))


def generator(seed: int, purpose: str) -> np.random.Generator:
    """A numpy generator on that stream."""
    return np.random.default_rng(stream(seed, purpose))
