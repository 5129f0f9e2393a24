"""Figure 2: loss and Hessian of a solution times c, beside what they become as c grows."""

import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.plotting.style import BLACK, GREY, Drawing, note, panels, plain_ticks
from flatlas.plotting.trainings import small_print
from flatlas.studies.false_friend.nets import NET, NORMS, name_of, sweeps

QUANTITIES = {"loss": ("training loss", BLACK, "o"), **NORMS}
COLUMNS = ("depth", "weight_norm", "least_margin", "misclassified", "converged")


def draw(material: Material) -> Drawing:
    """A row a net, a panel a quantity: measured, and predicted from the weights at c = 1."""
    told = [name for one in QUANTITIES for name in (one, f"{one}_predicted")]
    table = material.tables["scaling_summary"]
    points = table.reindex(columns=[*NET, "factor", *told, *COLUMNS])
    rows = sweeps(material)
    figure, axes = panels(len(rows), len(QUANTITIES), width=2.5, height=2.4)
    for row, sweep in enumerate(rows):
        here = axes[len(QUANTITIES) * row :][: len(QUANTITIES)]
        some = points[points["sweep"] == sweep]
        for ax, (name, (label, colour, sign)) in zip(here, QUANTITIES.items(), strict=True):
            for _, net in some.groupby("seed"):
                ax.plot(net["factor"], net[name], sign, color=colour, ms=3.5)
                ax.plot(net["factor"], net[f"{name}_predicted"], "--", color=GREY, lw=0.9)
            ax.set(xscale="log", yscale="log", xlabel="$c$", ylabel=label)
            plain_ticks(ax.xaxis, (1.0, 2.0, 5.0))
            _keep_to_measured(ax, some, name)
        here[0].set_title(name_of(sweep))
    axes[0].plot([], [], "o", color=BLACK, ms=3.5, label="measured")
    axes[0].plot([], [], "--", color=GREY, lw=0.9, label=r"as $c\to\infty$")
    axes[0].legend(loc="lower left")
    note(figure, _small_print(material, points))
    return Drawing(figure, points)


def _keep_to_measured(ax: Axes, some: pd.DataFrame, name: str) -> None:
    """Where c is small the prediction may be far off; it is not what the axis is for."""
    positive = some.loc[some[name] > 0, name].astype(float)
    if len(positive):
        ax.set_ylim(positive.min() / 3, positive.max() * 10)


def _small_print(material: Material, points: pd.DataFrame) -> str:
    text = "All weights times c; every realization. "
    wrong = points[points["misclassified"].astype(float) > 0].drop_duplicates(NET)
    if len(wrong):
        text += f"{len(wrong)} nets misclassify images, for which nothing is predicted. "
    return text + small_print(material)


def claims(material: Material):
    """See there."""
    from flatlas.studies.false_friend.fig2_claims import judge

    return judge(material)
