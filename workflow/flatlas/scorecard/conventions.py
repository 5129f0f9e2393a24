"""What the papers' words mean in numbers, for every claim alike.

They were fixed before any result at the paper's scale was seen, but not before any: means of
Figures 3 and S4 from an earlier run on a laptop were known (docs/duality.md). None was changed to
make a claim pass.
"""

from flatlas.scorecard.claims import Criterion, above, at_least, at_most, below, between

# 'Barely moves', 'unchanged', 'constant', 'equal', 'on the diagonal': a tenth is about the spread
# between realizations, and less than the thickness of the papers' lines and error bars shows.
BARELY = between(-0.1, 0.1)
# The same of a number that has lost its sign, as a mean of deviations.
BARELY_OFF = at_most(0.1)
# 'Saturates', 'converged': within a tenth of the last value, as 'barely moves'.
SATURATED = BARELY

# 'Falls as', 'rises with', 'strongly correlated', 'monotone': by rank, since no paper claims a
# straight line; 0.8 lets two of five points change places with a neighbour, and no more.
RISING = at_least(0.8)
FALLING = at_most(-0.8)

# 'Smaller', 'larger', 'falls' from one state to another: the right sign, beyond chance.
LESS = below(0)
MORE = above(0)
# 'Slightly up': the right sign, and no more than a quarter.
SLIGHTLY_MORE = Criterion(0, 0.25, strict=True)

# 'Mostly in', 'dominated by': at least half.
MOSTLY = at_least(0.5)
# 'About half': half, give or take a tenth of the whole, as 'barely'.
ABOUT_HALF = between(0.4, 0.6)
# 'All', 'always': a hundredth is left to chance.
ALL = at_least(0.99)
# 'Far below 1', 'much smaller': at most a quarter.
SMALL = at_most(0.25)
# 'Near 10': a third more or less.
NEAR_TEN = between(7, 13)
# 'Exactly', of numbers along eigenvectors: a millionth, since those of neighbouring eigenvalues are
# known no better.
EXACT = at_most(1e-6)
