"""Figures 5 and 7: decentralized learners (DPSGD) against synchronous ones (SSGD)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claims
from flatlas.claims.conventions import BARELY, LESS
from flatlas.claims.nets import Sweep
from flatlas.evidence.material import Material
from flatlas.plotting.style import BLUE, RED, Drawing, panels
from flatlas.statistics.means import mean
from flatlas.statistics.trends import change, change_of_logs, difference
from flatlas.studies.duality.directions import logs
from flatlas.studies.duality.realizations import finish, over_seeds
from flatlas.studies.duality.spectra import draw_spectrum, spectrum

KIND = "learners.kind"
NAMES = {"ssgd": "SSGD", "dpsgd": "DPSGD"}
COLOURS = {"ssgd": BLUE, "dpsgd": RED}
COLUMNS = ("gap", "sigma_g", "S_w")
LEGEND = r"Lines: means ($\Delta L_n$ over ten bins of $n$ a decade); bands and ±: one s.d. "
# Here the paper says n < 10.
BELOW_TEN = 9
AGAINST = "of DPSGD against SSGD"


@dataclass(frozen=True)
class Learning:
    """A sweep over both kinds of learners, the measure of a layer, and the paper's test errors.

    The test errors are in per cent. Where a figure has several nets, `net` is the name of this one.
    """

    sweep: str
    layer: str
    ssgd: Decimal
    dpsgd: Decimal
    net: str = ""


@dataclass(frozen=True)
class Learners:
    """The nets of a figure, each under both kinds of learners."""

    nets: tuple[Learning, ...]

    def draw(self, material: Material) -> Drawing:
        """A row of panels for each net, a panel for each quantity; test errors in the first."""
        across = len(COLUMNS)
        figure, axes = panels(len(self.nets), across)
        points: list[pd.DataFrame] = []
        for row, learning in enumerate(self.nets):
            place = slice(across * row, across * (row + 1))
            points += _draw_row(axes[place], "ABCDEF"[place], material, learning)
        return finish(figure, points, material, LEGEND)

    def claims(self, material: Material) -> Claims:
        """The claims about test errors and the panels of each net."""
        for net in self.nets:
            yield from _net_claims(material, net)


def _draw_row(
    axes: Sequence[Axes], letters: str, material: Material, learning: Learning
) -> Iterator[pd.DataFrame]:
    sweep, layer = learning.sweep, learning.layer
    directions = material.measured(f"{layer}_directions", sweep, KIND)
    nets = material.measured(f"{layer}_summary", sweep, KIND)
    errors = over_seeds(nets, [KIND], ["test_error"]).assign(panel=letters[0])
    yield errors
    for ax, letter, column in zip(axes, letters, COLUMNS, strict=True):
        drawn = spectrum(directions, KIND, column)
        draw_spectrum(ax, drawn, KIND, COLOURS)
        yield drawn.assign(panel=letter)
    axes[0].axhline(0, color="0.8", lw=0.8, zorder=0)
    axes[0].set_title(learning.net, loc="right")
    _name_errors(axes[0], errors, learning)


def _name_errors(ax: Axes, errors: pd.DataFrame, learning: Learning) -> None:
    for line in ax.get_lines():
        kind = str(line.get_label())
        if kind in NAMES:
            row = errors[errors[KIND] == kind].iloc[0]
            spread = "" if pd.isna(row["sd"]) else f" ± {100 * row['sd']:.1f}"
            line.set_label(
                f"{NAMES[kind]}\ntest error {100 * row['mean']:.1f}{spread} %\n"
                f"(paper: {getattr(learning, kind):.1f} %)"
            )
    if len(errors):
        ax.legend(loc="upper right", labelspacing=0.8)


def _net_claims(material: Material, learning: Learning) -> Claims:
    nets = Sweep(material, learning.sweep, KIND, tuple(NAMES))
    directions, summary = f"{learning.layer}_directions", f"{learning.layer}_summary"
    gap = nets.read(directions, "gap", "n")
    sharpness = logs(nets.read(directions, "sigma_g", "n"))
    dpsgd, ssgd = learning.dpsgd, learning.ssgd
    name = f"{learning.net.lower()}_" if learning.net else ""
    where = f", in the {learning.net}" if learning.net else ""
    yield nets.claim(
        f"{name}test_error",
        f"DPSGD has a lower test error than SSGD{where}",
        "test error of DPSGD less that of SSGD with the same images, in percentage points",
        LESS,
        difference,
        100 * nets.read(summary, "test_error"),
        paper=f"{dpsgd} % against {ssgd} %: −{ssgd - dpsgd}",
    )
    yield nets.claim(
        f"{name}gap",
        f"ΔL_n of DPSGD is reduced in the sharp directions, n < 10{where}",
        f"relative difference of ΔL summed over n < 10, {AGAINST}",
        LESS,
        change,
        gap[..., :BELOW_TEN].sum(-1),
    )
    yield nets.claim(
        f"{name}sharpness",
        f"σ_g,n of DPSGD is smaller for n < 10{where}",
        f"relative difference of the geometric mean of σ_g over n < 10, {AGAINST}",
        LESS,
        change_of_logs,
        mean(sharpness[..., :BELOW_TEN], -1),
    )
    yield nets.claim(
        f"{name}size",
        f"S_w is the same for both{where}",
        f"relative difference of S_w, {AGAINST}",
        BARELY,
        change,
        nets.read(summary, "S_w"),
    )


# At the paper's scale the nets of Figure 7 are ResNet-18 and DenseNet-121. The paper gives their
# accuracies.
FIGURES = {
    "fig5": Learners((Learning("learners", "hidden", Decimal("2.6"), Decimal("2.3")),)),
    "fig7": Learners(
        (
            Learning("resnet_learners", "last", Decimal("7.30"), Decimal("5.66"), "ResNet"),
            Learning("densenet_learners", "last", Decimal("7.21"), Decimal("5.21"), "DenseNet"),
        )
    ),
}
