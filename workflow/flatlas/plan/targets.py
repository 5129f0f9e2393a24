"""Helpful errors for a mistyped command line: for its targets and its --config."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path

from flatlas.errors import FlatlasError, nearest
from flatlas.plan.paths import MY_MODEL, OF_SETTING, RESULTS

# Options whose value may be `all`.
CORES = ("-c", "--cores", "-j", "--jobs")
# Options that take words such as `preset=laptop`.
TAKING_SETTINGS = ("--config", "-C")


def targets_of(argv: list[str], known: Collection[str] = ()) -> list[str]:
    """The targets on Snakemake's command line; empty if another program reads the Snakefile.

    Also empty if every word that may be a target is `known`: they are correct, and building
    Snakemake's parser takes a while.
    """
    if Path(argv[0]).stem not in ("snakemake", "__main__"):
        return []
    if {*_words(argv)}.issubset(known):
        return []
    from snakemake.cli import get_argument_parser

    parsed, _ = get_argument_parser().parse_known_args(argv[1:])
    return [str(target) for target in parsed.targets]


def _words(argv: list[str]) -> Iterator[str]:
    """The words that are no options, no number of cores, and no settings after --config."""
    option = ""
    for before, word in pairwise(argv):
        if word.startswith("-"):
            option = word
        elif before not in CORES and not (option in TAKING_SETTINGS and "=" in word):
            yield word


def check_config(argv: list[str]) -> None:
    """Refuse a second --config or --configfile: Snakemake would silently take the last."""
    if Path(argv[0]).stem not in ("snakemake", "__main__"):
        return
    if sum(re.match("--configfiles?(=|$)", word) is not None for word in argv) > 1:
        raise FlatlasError(
            "--configfile is given twice, and Snakemake would only take the last one: write all "
            "files after one --configfile."
        )
    # These are `--config a=1`, `--config=a=1` and `-Ca=1`.
    if sum(re.match(r"(--config|-C)(=|$|(?<=-C))", word) is not None for word in argv) > 1:
        raise FlatlasError(
            "--config is given twice, and Snakemake would only take the last one: write all keys "
            "after one --config, as in --config preset=laptop data_root=DIR."
        )


def check_names(studies: Iterable[str], figures: Mapping[str, str], rules: Iterable[str]) -> None:
    """Refuse a study or a figure whose target has the name of a rule.

    `figures` has the study of each figure by its target. Each study also gets a target that cleans
    it.
    """
    taken = {"all", "clean_unused", *rules}
    named = [(name, f"studies.{study}") for study in studies for name in (study, f"clean_{study}")]
    named += [
        (target, f"studies.{study}.figures.{target.removeprefix(f'{study}_')}")
        for target, study in figures.items()
    ]
    for name, place in named:
        if name in taken:
            raise FlatlasError(f"{place} has the name of another target, '{name}': rename it.")
        taken.add(name)


def check_targets(
    given: Iterable[str],
    rules: Iterable[str],
    steps: Collection[str],
    files: Iterable[str],
    presets: Collection[str],
) -> None:
    """Refuse a target that is neither a rule's name nor a file that a rule makes.

    `steps` are the rules that make files of many names. `files` are all that rules make under
    results/, also with wildcards; Snakemake checks other paths. `presets` are those that are not
    chosen.
    """
    names, made = sorted(rules), sorted(file for file in files if "{" not in file)
    for target in given:
        if re.match(r"[a-zA-Z_][\w.-]*=", target):
            raise FlatlasError(
                f"'{target}' is a setting, and was given as a target: settings come after "
                f"--config, as in --config {target}."
            )
        allowed = made if "/" in target else names
        if target in allowed or (allowed is made and not target.startswith(f"{RESULTS}/")):
            continue
        if target in steps:
            raise FlatlasError(
                f"'{target}' is a step of many figures, not a target: ask for a figure, a study or "
                f"one of the step's files, or force it with -R {target}."
            )
        if target.removeprefix("clean_") in OF_SETTING:
            raise FlatlasError(
                f"'{target}' needs the setting {MY_MODEL}, which names your network: write it into"
                " a file for --configfile (docs/bring-your-own.md)."
            )
        if target.startswith(tuple(f"{RESULTS}/{preset}/" for preset in presets)):
            preset = target.split("/")[1]
            raise FlatlasError(f"'{target}' is in another preset: add --config preset={preset}.")
        raise FlatlasError(
            f"'{target}' is not a target."
            f"{_longer(target, names) or nearest(target, allowed)} "
            "`snakemake --list-rules` shows all that can be made."
        )


def check_cleaning(given: Iterable[str], cleaning: Collection[str]) -> None:
    """Refuse targets that clean beside others.

    Snakemake may clean last, and delete what it has just made.
    """
    given = list(given)
    others = [target for target in given if target not in cleaning]
    if others and len(others) < len(given):
        raise FlatlasError(
            f"Nothing is deleted: clean first, then make {', '.join(others)} with a second command."
        )


def _longer(word: str, targets: Iterable[str]) -> str:
    """' Did you mean …?' with the targets that end or begin with a word, else ''."""
    ends, begins = f"_{word}", f"{word}_"
    same = [f"'{one}'" for one in targets if one.endswith(ends) or one.startswith(begins)]
    return f" Did you mean {' or '.join(same)}?" if same else ""
