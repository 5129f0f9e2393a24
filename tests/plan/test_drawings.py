"""A figure without its module or its caption is refused before anything is trained for it."""

import shutil

import pytest

from flatlas.errors import FlatlasError
from flatlas.plan import drawings
from flatlas.plan.drawings import check_drawings

SHARED = {"title": "Three", "module": "both", "sweeps": ["alpha"], "claims": False}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of the study `flat`, with modules and captions for figures fig1 and fig2."""
    studies = tmp_path / "workflow" / "flatlas" / "studies"
    monkeypatch.setattr(drawings, "STUDIES", studies)
    (studies / "flat").mkdir(parents=True)
    for name in ("fig1", "fig2"):
        (studies / "flat" / f"{name}.py").write_text(
            "def draw(material): ...\ndef claims(material): ...\n"
        )
        (studies / "flat" / f"{name}.rst").write_text("One.")
    return studies / "flat"


def message_of(plan):
    with pytest.raises(FlatlasError) as raised:
        check_drawings(plan)
    return str(raised.value)


def test_figures_with_module_and_caption_pass(folder, plan_of):
    check_drawings(plan_of())


def test_a_figure_without_a_module_is_told_where_it_belongs(folder, plan_of):
    more = {"title": "Three", "sweeps": ["alpha"]}
    assert message_of(plan_of(study={"figures.fgi2": more})) == (
        "config/studies/flat.yaml: figures.fgi2 needs a function draw(material) in "
        "workflow/flatlas/studies/flat/fgi2.py, which is not there. Did you mean 'fig2'?"
    )


def test_the_first_figure_of_a_study_is_told_so_too(folder, plan_of):
    shutil.rmtree(folder)
    assert message_of(plan_of()).endswith("flatlas/studies/flat/fig1.py, which is not there.")


def test_a_figure_without_a_caption_is_told_where_it_belongs(folder, plan_of):
    (folder / "fig2.rst").unlink()
    assert message_of(plan_of()) == (
        "config/studies/flat.yaml: figures.fig2 needs a caption in "
        "workflow/flatlas/studies/flat/fig2.rst."
    )


def test_a_figure_that_judges_nothing_says_so(folder, plan_of):
    (folder / "fig2.py").write_text("def draw(material): ...\n")
    assert message_of(plan_of()) == (
        "config/studies/flat.yaml: figures.fig2 needs a function claims(material) in "
        "workflow/flatlas/studies/flat/fig2.py. If the figure claims nothing, add 'claims: false'."
    )
    check_drawings(plan_of(study={"figures.fig2.claims": False}))


def test_a_module_may_draw_several_figures_each_an_entry_with_a_caption_of_its_own(folder, plan_of):
    plan = plan_of(study={"figures.s3": SHARED})
    (folder / "both.py").write_text('FIGURES = {"s2": Two()}')
    assert 'figures.s3 needs an entry "s3" in the dictionary FIGURES' in message_of(plan)
    (folder / "both.py").write_text('FIGURES = {"s2": Two(), "s3": Three()}')
    assert message_of(plan).endswith("needs a caption in workflow/flatlas/studies/flat/s3.rst.")
    (folder / "s3.rst").write_text("Three.")
    check_drawings(plan)


def test_a_mistyped_module_is_told_with_the_nearest(folder, plan_of):
    (folder / "both.py").write_text("class Three:\n    def draw(self, material): ...\n")
    message = message_of(plan_of(study={"figures.s3": SHARED | {"module": "bth"}}))
    assert message.endswith("flat/bth.py, which is not there. Did you mean 'both'?")
