"""A figure without its module or its caption is refused before anything is trained for it."""

import shutil

import pytest

from flatlas.errors import FlatlasError
from flatlas.plan import fingerprint
from flatlas.plan.drawings import check_drawings

THIRD = {"title": "Three", "module": "both", "sweeps": ["alpha"], "claims": False}


@pytest.fixture
def folder(study_folder):
    """The study's folder, with a module `both` for figures that the study does not have."""
    (study_folder / "both.py").write_text(
        'class Two:\n    def draw(self, material): ...\n\nFIGURES = {"s2": Two()}'
    )
    return study_folder


def test_complete_figures_pass_and_without_their_folder_the_first_is_refused(folder, plan_of):
    plan = plan_of()
    check_drawings(plan)
    shutil.rmtree(folder)
    with pytest.raises(FlatlasError, match=r"figures\.fig1 needs .*flat/fig1\.py"):
        check_drawings(plan)


@pytest.mark.parametrize(
    ("name", "figure", "needed", "near"),
    [
        ("fgi2", {"title": "Three", "sweeps": ["alpha"]}, "flat/fgi2.py", "fig2"),
        ("s3", THIRD | {"module": "bth"}, "flat/bth.py", "both"),
        ("s3", THIRD, 'an entry "s3" in the dictionary FIGURES of', None),
        ("s2", THIRD, "flat/s2.rst", None),
    ],
)
def test_the_error_names_what_a_new_figure_needs(folder, plan_of, name, figure, needed, near):
    plan = plan_of(study={f"figures.{name}": figure})
    with pytest.raises(FlatlasError) as raised:
        check_drawings(plan)
    message = str(raised.value)
    assert message.startswith(f"config/studies/flat.yaml: figures.{name} needs ")
    assert needed in message
    assert message.endswith(f"Did you mean '{near}'?") if near else "Did you mean" not in message


def test_the_error_names_the_file_that_declares_the_figure(folder, plan_of):
    """A figure stays the study's if the user changes only its title."""
    user = "config/config.yaml (or --configfile, --config): studies.flat."
    for key, said, place in [
        ("fgi2", {"title": "Two", "sweeps": ["alpha"]}, f"{user}figures.fgi2 needs"),
        ("fig1.module", "fgi1", f"{user}figures.fig1 needs"),
        ("s3.title", "Mine", "config/studies/flat.yaml: figures.s3 needs"),
    ]:
        study = {"figures.s3": THIRD} if key == "s3.title" else {}
        plan = plan_of(study=study, user={f"studies.flat.figures.{key}": said})
        with pytest.raises(FlatlasError) as raised:
            check_drawings(plan)
        assert str(raised.value).startswith(place)


def test_a_module_may_draw_several_figures_each_with_its_own_caption(folder, plan_of):
    (folder / "s2.rst").write_text("Two.")
    check_drawings(plan_of(study={"figures.s2": THIRD}))


def test_a_figure_that_judges_nothing_must_say_so(folder, plan_of):
    (folder / "fig2.py").write_text("def draw(material): ...\n")
    with pytest.raises(FlatlasError, match=r"figures\.fig2 needs a function claims.*claims: false"):
        check_drawings(plan_of())
    check_drawings(plan_of(study={"figures.fig2.claims": False}))


def test_an_imported_module_that_is_not_there_is_named_with_the_file(folder, plan_of, monkeypatch):
    monkeypatch.setattr(fingerprint, "LIBRARY", folder.parents[1])
    drawn = (folder / "fig2.py").read_text()
    (folder / "fig2.py").write_text(f"from flatlas.studies.flat.shared import LAST\n{drawn}")
    with pytest.raises(FlatlasError) as raised:
        check_drawings(plan_of())
    file = "workflow/flatlas/studies/flat/fig2.py"
    assert str(raised.value).startswith(f"{file} imports flatlas.studies.flat.shared, ")
