"""The claims of the studies in docs/gallery: all, figure by figure, and the main ones of each."""

import sys
from functools import partial
from itertools import groupby

from gallery import GALLERY, SCORECARD, figure_of, scale, scorecard_files
from pages import ROOT, table

from flatlas.claims.claim import FLATLAS
from flatlas.plan.documents import read_yaml
from flatlas.report.published import Published, published
from flatlas.report.rendering import FILTERS, render
from flatlas.report.verdicts import SIGNS

HEADER = ["", "figure", "scale", "claim", "holds if", "paper", "here"]
MAIN_HEADER = ["", "claim", "figure", "scale", "judged by", "holds if", "paper", "here"]
# What the abstract and the conclusions of each text state.
MAIN = {
    "annealing": (
        *("fig1.gamma", "fig1.drift", "fig2.inverse_B50_lr0.1", "fig2.psi_B50_lr0.1"),
        *("fig2.psi_B25_lr0.1", "s3.inverse_adam", "fig3.curvature", "fig3.spread"),
        *("fig5.flatter", "fig5.cools", "fig4.kept", "fig4.ldc_below"),
    ),
    "duality": (
        *("s4.diagonal", "s4.test_error", "fig2.monotone", "fig3.alpha_gap_sharp"),
        *("fig3.alpha_size", "fig4.decay_size", "fig4.decay_gap_flat", "fig4.init_size"),
        *("fig4.init_gap_flat", "fig5.test_error", "fig5.sharpness", "fig5.size"),
    ),
    "false_friend": (
        *("fig1.logistic_spectral_norm_small", "fig1.mlp_spectral_norm_small"),
        *("fig3.logistic_spectral_norm_more", "fig3.logistic_accuracy_more"),
        *("fig3.mlp_spectral_norm_more", "fig3.mlp_accuracy_more"),
        *("fig3.cnn_spectral_norm_more", "fig3.cnn_accuracy_more"),
        *("fig4.preresnet_spectral_norm_more", "fig5.better", "fig5.spectral_norm_times"),
        "fig7.mlp_spectral_norm_orders",
    ),
    "mystery": (
        *("fig2.limit", "fig3.regret", "fig3.kl_regret", "fig3.spectral_norm_contrast"),
        *("fig3.sharpness_contrast", "fig4.regret", "fig4.kl_regret"),
        *("fig4.spectral_norm_changes", "fig4.spectral_norm_contrast", "fig4.sharpness_contrast"),
    ),
    "prior": (
        *("fig4.prior_sgd_pearson", "fig4.prior_adam_pearson", "fig4.prior_entropy_sgd_pearson"),
        *("fig3.prior_cifar_pearson", "fig3.prior_residual_pearson", "fig4.flatness_sgd_pearson"),
        *("fig4.flatness_adam_pearson", "fig4.flatness_entropy_sgd_pearson"),
        *("s18.flatness_full_batch_pearson", "fig5.sharpness_spikes", "fig5.prior_untouched"),
        "fig2.boolean_spearman",
    ),
}

LEGEND = "✓ reproduced, ✗ not reproduced, ? undecided ([the rule](../README.md#what-came-out))."


def all_claims() -> str:
    """A section for each study."""
    sections = []
    for study, parts in groupby(published(scorecard_files()), lambda one: one.name):
        title = read_yaml(ROOT / "config" / "studies" / f"{study}.yaml")["title"]
        rows = [[row[name] for name in HEADER] for part in parts for row in _rows(part).values()]
        sections.append(f"## {title}\n\n{table(HEADER, rows)}")
    return "\n\n".join(sections)


def main_claims(study: str) -> str:
    """The main claims of a study: what the text says and what came out, side by side."""
    rows = {}
    for part in published([GALLERY / study / SCORECARD]):
        rows |= _rows(part)
    names = [f"{study}_{name}" for name in MAIN[study]]
    if missing := [name for name in names if name not in rows]:
        sys.exit(f"MAIN has {', '.join(missing)}. The gallery of {study} has no such claim.")
    main = [rows[name] for name in names]
    rows_of_table = ([row[name] for name in MAIN_HEADER] for row in main)
    return f"{table(MAIN_HEADER, rows_of_table)}\n\n{LEGEND}"


def _rows(part: Published) -> dict[str, dict[str, str]]:
    """The cells of each claim, by its name."""
    at = scale(part.preset, GALLERY / part.name)
    rows = {}
    for claim in part.claims.to_dict("records"):
        figure = figure_of(claim["claim"], part.name)
        rows[claim["claim"]] = {
            "": SIGNS[claim["verdict"]] + " ★" * (claim["whose"] == FLATLAS),
            "figure": f"[{figure}](gallery/{part.name}/README.md#{figure})",
            "scale": at,
            "claim": claim["says"],
            "judged by": claim["quantity"],
            "holds if": FILTERS["minus"](claim["criterion"]),
            "paper": FILTERS["minus"](claim["paper"]),
            "here": render("number.txt", claim=claim),
        }
    return rows


CLAIMS = {
    "claims": all_claims,
    **{f"main-{study}": partial(main_claims, study) for study in MAIN},
}
