"""The claims of a figure in a made-up world or of any material, by name."""

import re
from functools import cache, partial

import annealing_worlds
import atlas_worlds
import duality_worlds
import false_friend_worlds
import mystery_worlds
import prior_worlds
from declared import RIGHT, claiming, figure_of

from flatlas.claims.claim import UNDECIDED
from flatlas.evidence.material import Material

WORLDS = {
    "annealing": annealing_worlds,
    "atlas": atlas_worlds,
    "duality": duality_worlds,
    "false_friend": false_friend_worlds,
    "mystery": mystery_worlds,
    "prior": prior_worlds,
}
# Figures with tests and tables of their own.
APART = ("prior_links", "prior_estimates", "prior_optimizers")
# Claims that are our questions, by the beginning of their names; all others are the paper's.
QUESTIONS = {
    "duality_s11": "init",
    "duality_cifar_fig3": "",
    "duality_cifar_fig4": "",
    "duality_convolution": "",
    "duality_fig2": "all_",
    "duality_s4": "all_",
    "duality_fig4": "init_solved$",
    "duality_fig4_program": "init_solved$",
    "duality_s14": "dropout_solved$",
    "duality_s14_program": "dropout_solved$",
    "prior_fig3": "rest_|first_order_|lowest_|highest_",
    "prior_fig4": "rest_|first_order_|sgd_.*_(prior|rest_flatness)_",
    "prior_full_batch": "",
    "prior_inverse": "",
    "prior_inverse_less": "",
    "prior_links": "",
    "prior_optimizers": "",
    "prior_estimates": "",
    "false_friend_fig2": ".*_theory$",
    "false_friend_fig3": ".*_rises$",
    "false_friend_fig4": ".*_rises$",
    "false_friend_fig5": "best$",
    "false_friend_fig6": "",
    "mystery_fig2": "jensen$",
    "mystery_fig3": "norm$|dissimilarity$|damped_regret|.*_(batch|sgd|adam)$",
    "mystery_fig4": "damped_regret|.*_invariant$",
    "atlas_fig1": "",
    "atlas_fig2": "",
    "atlas_fig3": "",
    "atlas_fig6": "",
}
NOTHING = "(?!)"


def figures_of(study):
    """The figures that judge claims and have a world."""
    return [name for name in claiming(study) if f"{study}_{name}" not in APART]


def judge(study, figure, material):
    claims = [*figure_of(study, figure).claims(material)]
    names = [claim.name for claim in claims]
    assert len(set(names)) == len(names), "two claims of one name"
    questions = re.compile(QUESTIONS.get(f"{study}_{figure}", NOTHING))
    assert [claim.ours for claim in claims] == [bool(questions.match(name)) for name in names]
    return {claim.name: claim for claim in claims}


@cache
def judged(study, right, figure, **seeds):
    """The claims of a world as it is."""
    return judge(study, figure, WORLDS[study].world(right, figure, **seeds))


def changed(study, figure, table, **columns):
    """The claims where the text is right, with other columns in one table."""
    made = WORLDS[study].world(RIGHT, figure)
    return judge(study, figure, with_columns(made, table, **columns))


def of_study(study):
    """`judge`, `judged` and `changed` for the figures of one study."""
    return partial(judge, study), partial(judged, study), partial(changed, study)


def verdicts(claims):
    return {name: claim.verdict for name, claim in claims.items()}


def undecided(claims):
    return {name for name, claim in claims.items() if claim.verdict == UNDECIDED}


def with_columns(material, name, **columns):
    """The same material with other columns in one table: values, or functions of the table."""
    return material.with_table(name, material.tables[name].assign(**columns))


def chosen(material, which):
    """The rows of every table that meet a condition."""
    return Material({name: table[which(table)] for name, table in material.tables.items()})
