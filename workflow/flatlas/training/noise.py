"""Normal numbers for Entropy-SGD, two for each step of a counter."""

from math import tau

import numpy as np

# The increment and the multipliers of SplitMix64 (Steele, Lea and Flood 2014).
INCREMENT = np.uint64(0x9E3779B97F4A7C15)
MULTIPLIERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
# Bits of a word from the 41st on are one uniform number, those from the 7th to the 31st another.
UPPER, LOWER, MASK = np.uint64(41), np.uint64(7), np.uint64(2**25 - 1)


class Noise:
    """A stream of standard normal numbers that depends on its seed and position alone.

    Numbers from torch would take more than half of Entropy-SGD's time. `normal_numbers` in kernel.c
    makes the same numbers, up to rounding in float32, three times as fast.
    """

    def __init__(self, seed: int) -> None:
        """At the beginning of the stream of a seed."""
        self.seed, self.position = seed, 0

    def draw(self, count: int) -> np.ndarray:
        """The next `count` numbers, by Box and Muller: all cosines, then all sines."""
        words = self._words(pairs_of(count))
        radius = np.sqrt(-2 * np.log(((words >> UPPER) + 0.5) / 2**23))
        angle = (words >> LOWER & MASK) * (tau / 2**25)
        pairs = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
        return pairs[:count].astype(np.float32)

    def _words(self, count: int) -> np.ndarray:
        """The next numbers of SplitMix64."""
        first = self.position + 1
        word = np.arange(first, first + count, dtype=np.uint64) * INCREMENT + np.uint64(self.seed)
        word = (word ^ (word >> SHIFTS[0])) * MULTIPLIERS[0]
        word = (word ^ (word >> SHIFTS[1])) * MULTIPLIERS[1]
        self.position += count
        return word ^ (word >> SHIFTS[2])


def pairs_of(count: int) -> int:
    """The number of pairs that give `count` numbers."""
    return (count + 1) // 2
