"""The figures and the claim of docs/add-a-*.md, from made-up tables and in both worlds."""

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location

import made_up
import pytest
import yaml
from declared import RIGHT, WRONG, nets_of
from duality_worlds import STUDY, world
from printed import DOCS, blocks

from flatlas.claims.claim import NOT_REPRODUCED, REPRODUCED
from flatlas.plan.measurements.duality import Duality

RATE, DRAWN, CAPTION, *_ = blocks("add-a-figure.md")
IMPORTS, CLAIMS = blocks("add-a-claim.md")


@pytest.fixture
def imported(tmp_path):
    def load(text):
        path = tmp_path / "printed_module.py"
        path.write_text(text)
        spec = spec_from_file_location(path.stem, path)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture
def rate(monkeypatch):
    """The printed entry, in the study."""
    ((name, entry),) = yaml.safe_load(RATE)["figures"].items()
    monkeypatch.setitem(STUDY["figures"], name, entry)
    yield name
    world.cache_clear()


def test_the_printed_figure_draws_each_network_and_has_a_caption(imported, rate):
    nets = [
        (
            {k: one[k] for k in one if k != "seed"},
            {"hidden": Duality(measure="duality", layer="fc2")},
        )
        for _, one in nets_of("duality", rate, 1)
    ]
    drawing = imported(DRAWN).draw(made_up.material(nets))
    assert drawing.points.groupby("optimizer.lr").size().to_dict() == dict.fromkeys(
        STUDY["sweeps"]["alpha"]["grid"]["optimizer.lr"], 2
    )
    assert CAPTION.startswith(f"**{STUDY['figures'][rate]['title']}.** ")


@pytest.mark.parametrize(("right", "verdict"), [(RIGHT, REPRODUCED), (WRONG, NOT_REPRODUCED)])
def test_the_printed_claim_follows_the_world(imported, rate, right, verdict):
    (claim,) = imported(f"{IMPORTS}\n{CLAIMS}").claims(world(right, rate))
    assert claim.verdict == verdict


def test_the_printed_figure_with_its_claim_passes_the_repository_s_style():
    *_, drawing = DRAWN.partition("\n\n\n")
    module = f'"""A figure."""\n\n{IMPORTS}\n\n{drawing}\n\n{CLAIMS}'
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--no-cache",
        "--stdin-filename",
        "rate.py",
        "-",
    ]
    checked = subprocess.run(command, input=module, cwd=DOCS.parent, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
