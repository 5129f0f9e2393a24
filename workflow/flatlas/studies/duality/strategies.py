"""Figures 3, 4, S9, S12 and their variants: the paper's two ways to a smaller gap (Fig. S7).

Solutions become flatter (Figures 3 and S9) or smaller (Figures 4 and S12).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from flatlas.claims.claim import Claim, Claims, ours
from flatlas.claims.conventions import ABOUT_HALF
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.statistics.trends import ratio
from flatlas.studies.duality.directions import SHARPEST
from flatlas.studies.duality.layer import Layer, named
from flatlas.studies.duality.sweeps import draw_rows, draw_sweeps

# The study's names of the pairs of hidden layers of the deep net, and their names in claims.
PAIRS = {"hidden": "first", "second": "second", "third": "third"}


@dataclass(frozen=True)
class Reading:
    """What weight decay and s mean, in which the text and the authors' program differ."""

    penalty: str
    init: str


TEXT = Reading("the text's β‖w‖²", "the text's initialization")
PROGRAM = Reading("the program's β‖w‖", "the program's initialization")


@dataclass(frozen=True)
class TwoSweeps:
    """Two sweeps that make solutions flatter or smaller, with the claims about them."""

    sweeps: tuple[str, str]
    make_claims: Callable[[Material, str, str], Iterable[Claim]]

    def draw(self, material: Material) -> Drawing:
        """A row of panels for each sweep."""
        return draw_sweeps(material, *self.sweeps)

    def claims(self, material: Material) -> Iterable[Claim]:
        """The claims about both rows."""
        return self.make_claims(material, *self.sweeps)


@dataclass(frozen=True)
class EachPair:
    """One of these sweeps for the deep net, with the claims about each pair of hidden layers."""

    sweep: str
    make_claims: Callable[[Layer], Claims]

    def draw(self, material: Material) -> Drawing:
        """A row of panels for each pair."""
        rows = [(self.sweep, pair, f"hidden layers {n}–{n + 1}") for n, pair in enumerate(PAIRS, 1)]
        return draw_rows(material, rows)

    def claims(self, material: Material) -> Claims:
        """The claims about each pair."""
        for measure, place in PAIRS.items():
            found = self.make_claims(Layer(material, self.sweep, measure))
            yield from named(place, found, f", in the {place} pair of hidden layers")


def flatter_solutions(material: Material, rates: str, batches: str, half: str = "") -> Claims:
    """Figure 3's claims about a sweep over learning rates and one over batch sizes.

    `half` is what the paper says about this net's ten sharpest directions, if anything.
    """
    alpha, batch = Layer(material, rates), Layer(material, batches)
    yield from named("alpha", alpha.flatter(rises=False))
    yield from named("batch", batch.flatter(rises=True))
    yield alpha.whole.claim(
        "half",
        "about half of ΔL comes from the 10 sharpest directions",
        "share of the directions n ≤ 10 in mean ΔL at the largest α",
        ABOUT_HALF,
        lambda sharp, whole: ratio(sharp[..., -1], whole[..., -1]),
        alpha.directions("gap")[..., :SHARPEST].sum(-1),
        alpha.net("dual_gap"),
        paper=half,
    )


def smaller_solutions(
    material: Material, decays: str, scales: str, reading: Reading = TEXT
) -> Claims:
    """Figure 4's claims about a sweep over rates of weight decay and one over initial scales."""
    decay, init = Layer(material, decays), Layer(material, scales)
    sharp = decay.stays("gap_sharp", "ΔL_s", decay.net("gap_sharp"))
    yield from named("decay", [*decay.smaller(rises=False), sharp], f", with {reading.penalty}")
    found = [*init.smaller(rises=True), *ours([init.solved()])]
    yield from named("init", found, f", with {reading.init}")


# The paper analyzes the convolutional net on CIFAR-10 too, but shows nothing of it.
FIGURES = {
    "fig3": TwoSweeps(("alpha", "batch"), partial(flatter_solutions, half="about 50 %")),
    "fig4": TwoSweeps(("decay", "init"), smaller_solutions),
    "fig4_program": TwoSweeps(
        ("program_decay", "program_init"), partial(smaller_solutions, reading=PROGRAM)
    ),
    "s9": EachPair("batch_deep", lambda layer: layer.flatter(rises=True)),
    "s12": EachPair("decay_deep", lambda layer: layer.smaller(rises=False)),
    "cifar_fig3": TwoSweeps(
        ("cifar_alpha", "cifar_batch"), lambda *given: ours(flatter_solutions(*given))
    ),
    "cifar_fig4": TwoSweeps(
        ("cifar_decay", "cifar_init"), lambda *given: ours(smaller_solutions(*given))
    ),
}
