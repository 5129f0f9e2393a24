"""What the papers' words mean in numbers: the same for every claim.

Each was fixed before results at the paper's scale were seen. What was known by then:

- `duality`: means of Figures 3 and S4, from an earlier run on a laptop (docs/duality.md).
- `prior`: the epoch of zero error, log10 P and sharpness (by three searches) of a handful of nets.
- `annealing`: γ = 2.38, ψ = 4.33 and the share 0.892 of the variance in the first 35 directions,
  all of one net.
- `mystery`, whose text has no numbers: no measure of a trained net. Only "mostly 1" came later,
  when 1 − cos was known to be about 0.85.
- `false_friend`, whose claims have no words of their own below: the norms and the largest
  eigenvalues of a logistic regression and an MLP, at a few strengths of L2.
- `atlas`: none of its nets had been compared, but all results of an earlier atlas, of 55 runs
  borrowed from the other studies, had been seen.

Changed later:

- Criteria on correlations that could not fail, or that an inverse correlation would have met. No
  further result of `prior` had been seen by then.
- Those that docs/prior.md lists, when all figures of `prior` had been seen at the paper's scale.
- Three that did not test their sentence: the share of a part in a change of ΔL that goes the other
  way (`duality`), fluctuations next to the fresh weights (S8 of `prior`), orders of three nets
  (Figure 7 of `false_friend`).
- Two that a sentence's opposite would have met: that a fall saturates (S14 of `duality`) and that
  weights drift (Figure 1 of `annealing`). They changed when all results had been seen.
- LEARNT, when all results had been seen; it can only make claims undecided.
- What Figure 6 of `duality` compares: noises at the same H_n, no longer at equal rank. The results
  had been seen; two claims that failed or were undecided then passed (docs/duality.md).
"""

from flatlas.claims.claim import Criterion, above, at_least, at_most, below, between

# The test error of nets that have learnt their task. If even the best run behind a claim is wrong
# on more than half of the new images, the claim is undecided: nets that do not generalize say
# little about why nets do.
# - Half: of the nets that were known, those of at most 4,000 CIFAR-10 images in ten classes were
#   wrong on 60 to 75 % (figure 7 of `duality`: 63 to 67 %, in the paper 5 to 7 %), all others on
#   less than 20 %. With two classes, half is what guessing gives. A bound of half the error of
#   guessing would need the number of classes, which a figure's tables do not have.
# - Of the test images: nets can learn a thousand training images without error and be wrong on most
#   others.
# - The best run: attack sets, wrong labels, strong penalties and some optimizers raise the error on
#   purpose, beside a run with a small one.
# - Questions of the atlas have no bound: it orders nets by their gap, and needs large ones too.
LEARNT = at_most(0.5)

# 'Barely moves', 'unchanged', 'constant', 'equal', 'mostly 1', 'on the diagonal': a tenth is about
# the spread between realizations, and less than one can see behind the papers' lines and error
# bars.
BARELY = between(-0.1, 0.1)
# The same for a number without a sign, such as a mean of deviations.
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
# 'Bounded by', written as '≲', which lets some exceed: all but a tenth.
BOUNDED = at_least(0.9)
# 'Much larger', of σ_1² compared with σ_2²: four times the factor 4 of pure diffusion, because
# SMALL would accept diffusion. Set when the factor was known to be 106 and more
# (docs/annealing.md). 'Much longer' than an epoch, of the time along p_1: more than twice the seven
# epochs of pure diffusion. Set when the time was known to be infinite.
BEYOND_DIFFUSION = at_most(1 / 16)
# 'Near 10': three tenths more or less.
NEAR_TEN = between(7, 13)
# 'About 200', of numbers that are tried in steps of a factor of two or more: no more than one step
# off.
NEAR_TWO_HUNDRED = between(100, 400)
# 'Exactly', of numbers along eigenvectors: to a millionth. Eigenvectors of neighbouring
# eigenvalues are not known better.
EXACT = at_most(1e-6)

# Correlations, each by the coefficients of Pearson, Spearman and Kendall. For normal data Kendall's
# is (2/π) arcsin r: 0.71, 0.49 and 0.33 at r = 0.9, 0.7 and 0.5. 'Tight', 'robust', 'excellent',
# 'intact': hardly anything is left but noise.
TIGHT = {"pearson": at_least(0.9), "spearman": at_least(0.9), "kendall": at_least(0.7)}
# 'Correlates', 'relatively well', 'reasonably', 'directly': half of the variance.
CORRELATED = {"pearson": at_least(0.7), "spearman": at_least(0.7), "kendall": at_least(0.5)}
# 'Broken', 'fails', 'badly', 'poor': at most a quarter of the variance. A correlation with the
# opposite sign predicts just as well.
BROKEN = {
    "pearson": between(-0.5, 0.5),
    "spearman": between(-0.5, 0.5),
    "kendall": between(-1 / 3, 1 / 3),
}
# 'Looser', 'tighter', 'better': the difference of two coefficients' sizes has the right sign.
LOOSER, TIGHTER = LESS, MORE
# 'Much more scattered': it explains at most half as much of the variance as another.
MUCH_LOOSER = at_most(0.5)
# A correlation that we asked about after the numbers of fewer realizations were known
# (docs/prior.md): the right sign, by each coefficient.
POSITIVE = dict.fromkeys(("pearson", "spearman", "kendall"), MORE)
# Dots that lie 'in' a range, scaled to end at 0 and 1.
INSIDE = between(0, 1)

# Along training. 'Spikes' by the α-scaling: to at least twice what it was just before. The same for
# a 'large difference' in flatness, up or down.
SPIKE = at_least(2)
# 'Soon' after the α-scaling: within so many epochs, a tenth of those from zero error to the
# α-scaling.
SOON = 50
# 'Decays': what is left of a spike, up or down, is at most a quarter of it.
DECAYED = between(-0.25, 0.25)
# 'Constant', 'unchanged', 'returns' are BARELY, of changes of log10 P(f) in units of the range that
# it went through from the first checkpoint to zero error: relative to log10 P(f) itself, which is
# in the hundreds, hardly any change would reach a tenth. 'Jumps': by more than 'barely moves'.
JUMPS = above(0.1)
# 'Near epoch 140', relative to it: three tenths more or less, as 'near 10'.
NEAR = between(-0.3, 0.3)


# Along the directions of a recording.
def near(paper: float) -> Criterion:
    """'∼ 4', 'approximately as F^−2', 'almost linearly', 'around 50': as NEAR, of a number."""
    return between(*sorted((0.7 * paper, 1.3 * paper)))


# 'Similar profile' is RISING, an 'inverse relation' FALLING; 'linear' and 'highly correlated' are
# TIGHT; a 'zero gradient' is BARELY_OFF in units of the gradient along p_1, which is not zero;
# 'much longer', 'much larger' and 'much more slowly' are SMALL, of the inverse ratio.

# Of the study `mystery`. '→': a ratio is within a hundredth of its limit, 1.
LIMIT = between(-0.01, 0.01)
# 'Depends only on the function': an α-scaling changes a measure by at most a hundredth. 'Is
# sensitive' to it, 'changes': JUMPS. 'Much less', of how far a ratio of two numbers moves, relative
# to those numbers: SMALL.
ONLY_THE_FUNCTION = at_most(0.01)

# Of the study `atlas`. A measure that is 'useful' orders two of three pairs of nets by their gap,
# as a share of pairs or as Kendall's coefficient. For normal data that is a coefficient of Pearson
# of one half. A bound of 0 could not reject a measure that knows nothing: its interval would
# contain 0 in 95 of 100 cases.
RIGHT = at_least(2 / 3)
USEFUL = at_least(1 / 3)
# 'Still follows', given the baselines: a partial coefficient, which is no share of pairs.
ADDS = at_least(0.2)
# 'Does not mislead': right at least as often as a coin.
COIN = at_least(0.5)
