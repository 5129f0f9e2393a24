"""The claims of a figure, by name, and what may be asked of all of them."""

import re
from math import isfinite, isnan

from declared import figure_of

from flatlas.claims.claim import UNDECIDED
from flatlas.evidence.material import Material

# What begins so is no sentence of the text; of all other figures every claim is one.
QUESTIONS = {
    "duality_cifar_fig3": "",
    "duality_cifar_fig4": "",
    "duality_convolution": "",
    "prior_fig3": "rest_|first_order_|lowest_|highest_",
    "prior_fig4": "rest_|first_order_",
    "prior_inverse": "",
    "prior_links": "",
    "prior_optimizers": "",
    "prior_estimates": "",
    "false_friend_fig2": ".*_theory$",
    "false_friend_fig3": ".*_rises$",
    "false_friend_fig4": ".*_rises$",
    "false_friend_fig5": "best$",
    "false_friend_fig6": "",
    "mystery_fig3": "norm$|dissimilarity$|damped_regret",
    "mystery_fig4": "damped_regret",
    "atlas_fig1": "",
    "atlas_fig2": "",
    "atlas_fig3": "",
}
NOTHING = "(?!)"


def unsolved(material):
    """The tables of a figure whose trainings all diverged: columns, and no row of a measure."""
    ended = {"converged": False, "reason": "diverged", "met_epoch": 0}
    tables = {name: table.iloc[:0] for name, table in material.tables.items()}
    return Material(tables | {"outcomes": material.tables["outcomes"].assign(**ended)})


def with_columns(material, name, **columns):
    """The same material with other columns in one table: values, or functions of the table."""
    return Material({**material.tables, name: material.tables[name].assign(**columns)})


def verdicts(claims):
    return {name: claim.verdict for name, claim in claims.items()}


def judged_figure(study, figure, material):
    claims = figure_of(study, figure).claims(material)
    names = [claim.name for claim in claims]
    assert len(set(names)) == len(names), "two claims of one name"
    questions = re.compile(QUESTIONS.get(f"{study}_{figure}", NOTHING))
    assert [claim.ours for claim in claims] == [bool(questions.match(name)) for name in names]
    return {claim.name: claim for claim in claims}


def assert_all_come_out(claims, verdict):
    assert verdicts(claims) == dict.fromkeys(claims, verdict)
    assert not any(claim.note for claim in claims.values())


def assert_numbers_decide_nothing(claims):
    for claim in claims.values():
        assert claim.verdict == UNDECIDED
        assert isfinite(claim.estimate.value)


def assert_nothing_is_known(claims, names):
    assert claims.keys() == names
    for claim in claims.values():
        assert claim.verdict == UNDECIDED
        assert isnan(claim.estimate.value)
