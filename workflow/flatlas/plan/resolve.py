"""Resolves a configuration into a plan."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from flatlas.errors import FlatlasError, nearest
from flatlas.plan.declared_study import DeclaredStudy
from flatlas.plan.documents import Document, Layer, read_yaml, yaml_files
from flatlas.plan.figure_plans import add_study, check_drawn, unused
from flatlas.plan.my_model import atlas_mine, check_images, my_model
from flatlas.plan.paths import ATLAS, ATLAS_MINE, FOLDERS, MY_MODEL, OF_SETTING
from flatlas.plan.plan import Plan
from flatlas.plan.settings import Preset, Settings
from flatlas.plan.trees import USER, with_nulls

_ONLY_SHIPPED = " A preset can't change a study of your own."
_OR_OWN = " To declare your own study, give it a title."


def resolve(config: Mapping[str, Any], root: Path) -> Plan:
    """The plan of a configuration (Snakemake's mapping) with the files under `root`."""
    user = Document(Layer(USER, with_nulls(config)))
    settings = user.validated(Settings)
    preset = _preset(settings.preset, root)
    plan = Plan(settings, preset.validated(Preset))
    files = yaml_files(root / "studies")
    for changed in (user, preset):
        _check_known(changed, files, settings, may_declare=changed is user)
    _check_scaled(preset, files)
    declared: dict[str, DeclaredStudy] = {}
    for name, path in files.items():
        declared[name] = DeclaredStudy(plan, name, _study(path, preset, settings), declared)
    own = {name: Document(_changes(settings, name)) for name in settings.studies}
    if settings.my_model:
        check_images(settings.my_model, settings.sources)
        own[MY_MODEL] = my_model(settings.my_model, root, _changes(settings, MY_MODEL))
        if ATLAS in files:
            atlas = declared[ATLAS].document
            changes = _changes(settings, ATLAS_MINE)
            own[ATLAS_MINE] = atlas_mine(settings.my_model, root, atlas, changes)
    for name, document in own.items():
        if name not in files:
            declared[name] = DeclaredStudy(plan, name, document, declared, own=True)
    # Studies that borrow come last, so a mistake in a borrowed entry is reported where it was made.
    for study in sorted(declared.values(), key=lambda one: one.borrows):
        add_study(study)
    for study in declared.values():
        check_drawn(study)
        plan.unused += unused(study)
    return plan


def _preset(name: str, root: Path) -> Document:
    presets = yaml_files(root / "presets")
    if name not in presets:
        raise FlatlasError(
            f"{USER}: preset is {name!r}. Allowed: {', '.join(presets)}.{nearest(name, presets)}"
        )
    file = f"config/presets/{name}.yaml"
    if name in FOLDERS:
        raise FlatlasError(
            f"{file} has the name of the folder results/{name}, which has other results. Rename it."
        )
    return Document(Layer(file, read_yaml(presets[name])))


def _check_known(
    changed: Document, studies: Collection[str], settings: Settings, may_declare: bool
) -> None:
    """Refuse changes to an unknown study. A file that `may_declare` one must give it a title."""
    for name, tree in changed.tree.get("studies", {}).items():
        if name in studies or (name in OF_SETTING and settings.my_model):
            continue
        place = changed.origin(("studies", name))
        if name in OF_SETTING:
            raise FlatlasError(
                f"{place} needs the setting {MY_MODEL}, which names your network"
                " (docs/bring-your-own.md). A study of your own needs another name."
            )
        if not (may_declare and "title" in tree):
            raise FlatlasError(
                f"{place} is not a study. Allowed: {', '.join(studies)}."
                f"{_OR_OWN if may_declare else _ONLY_SHIPPED}{nearest(name, studies)}"
            )


def _check_scaled(preset: Document, studies: Iterable[str]) -> None:
    """Refuse a preset that leaves out a study: it would run at the scale of its own file."""
    changed = preset.tree.get("studies", {})
    for name in studies:
        if changed and name not in changed:
            raise FlatlasError(
                f"{preset.origin(('studies',))} has no entry for the study '{name}', which would"
                f" run at the full scale of config/studies/{name}.yaml. Add studies.{name} with"
                f" what is smaller in this preset, or '{name}: {{}}' to run it at full scale."
            )


def _study(path: Path, preset: Document, settings: Settings) -> Document:
    """A study's file with the changes of the preset and of the user."""
    scaled = preset.tree.get("studies", {}).get(path.stem, {})
    return Document(
        Layer(f"config/studies/{path.name}", read_yaml(path)),
        Layer(f"config/presets/{settings.preset}.yaml", scaled, ("studies", path.stem)),
        _changes(settings, path.stem),
    )


def _changes(settings: Settings, study: str) -> Layer:
    """The user's changes to a study."""
    return Layer(USER, settings.studies.get(study, {}), ("studies", study))
