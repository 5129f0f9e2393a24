"""The page docs/bring-your-own.md works as printed."""

import os

import numpy as np
import pandas as pd
import pytest
from printed import blocks
from safetensors.numpy import load_file
from test_folders import paint

from flatlas.plan.tables import MY_MODEL

# Prints which images of `pictures` a network in `small.safetensors` gets wrong, by plain PyTorch.
# Batch norm has the statistics of the training images.
WRONG = """
import numpy as np, torch
from my_nets import Small
from pathlib import Path
from PIL import Image
from safetensors.torch import load_file
net = Small(width=4, classes=2)
net.load_state_dict(load_file("small.safetensors"))
def part(name):
    files = sorted(Path("pictures", name).glob("*/*.png"))
    pixels = np.stack([np.asarray(Image.open(file)) for file in files])
    labels = torch.tensor([file.parent.name == "dog" for file in files]).long()
    return torch.tensor(pixels).permute(0, 3, 1, 2).float() / 255, labels
images, labels = part("train")
net[1].momentum = None
net[1].reset_running_stats()
net.train()
with torch.no_grad():
    net[1](net[0](images))
    net.eval()
    for name in ("train", "test"):
        images, labels = part(name)
        print((net(images).argmax(1) != labels).double().mean().item())
"""

SAVE = "import runpy; runpy.run_path('save.py', run_name='__main__')"


@pytest.fixture
def with_own(pristine):
    """The repository as it is shipped, with a folder of images, a net and its weights."""
    files = ("my_nets.py", "save.py", "my-model.yaml", "more.yaml", "mine.yaml")
    for name, text in zip(files, blocks("bring-your-own.md"), strict=True):
        (pristine / name).write_text(text)
    paint(pristine.root, seed=1, images=6, colours=3)
    return pristine


def test_own_images_and_an_own_net_are_measured_and_drawn_in_a_folder_of_their_own(with_own):
    own = ("mine", "--configfile", "mine.yaml")
    with_own.snakemake(*own)
    drawn = pd.read_csv(with_own / "results/demo/mine/gap.csv")
    assert drawn["seed"].tolist() == [0, 1]
    for measure, table, rows in (("hessian", "eigenvalues", 6), ("sharpness", "summary", 2)):
        file = with_own.only(f"measures/{measure}/*/{table}.parquet")
        assert len(pd.read_parquet(file)) == rows
    assert not (with_own / "results/demo/duality").exists()
    assert with_own.would_run(*own) == {}
    with_own.edit("my_nets.py", r"0\.1", "0.2")
    retaken = {f"measure_{one}": 1 for one in ("duality", "hessian", "sharpness")}
    changed = with_own.would_run(*own)
    changed.pop("mine", None)
    assert changed == {"train": 1, "mine_gap": 1} | retaken


def test_one_command_makes_the_page_of_an_own_checkpoint(with_own):
    """It is measured as it is; a new file is measured again."""
    with_own.python(SAVE)
    own = ("my_model", "--configfile", "my-model.yaml")
    said = with_own.snakemake("my_model", fails=True)
    assert "docs/bring-your-own.md" in said and "Traceback" not in said
    with_own.snakemake(*own)
    kept = load_file(with_own.only("runs/*/weights.safetensors"))
    given = load_file(with_own / "small.safetensors")
    np.testing.assert_array_equal(kept["final/fc.weight"][0], given["6.weight"].T)
    np.testing.assert_array_equal(kept["final/features.0.weight"][0], given["0.weight"])
    page = with_own / "results/demo/my_model/page.html"
    table = pd.read_csv(page.with_suffix(".csv"))
    assert [*table] == [*MY_MODEL]
    numbers = table.set_index("quantity")["value"]
    wrong = [float(line) for line in with_own.python(WRONG).split()]
    assert numbers[["train_error", "test_error"]].tolist() == pytest.approx(wrong)
    assert {"sharpness", "spectral_norm", "trace", "dual_gap"} <= {*numbers.dropna().index}
    shown = page.read_text()
    assert shown.index('id="accuracy"') < shown.index('id="measures"')
    assert with_own.would_run(*own) == {}
    more = with_own.would_run(*own, "more.yaml")
    assert "measure_hessian" in more and "measure_duality" not in more
    with_own.python(f"import torch; torch.manual_seed(1)\n{SAVE}")
    # As old as a copy that keeps the time of the original.
    os.utime(with_own / "small.safetensors", (0, 0))
    assert with_own.would_run(*own)["train"] == 1


def test_verify_checks_the_page_of_own_networks_in_the_atlas(with_own):
    with_own.python(SAVE)
    only = "studies: {atlas_mine: {figures: {place: {measures: [norms]}}}}"
    (with_own / "only.yaml").write_text(only)
    own = ("--configfile", "my-model.yaml", "only.yaml")
    with_own.snakemake("atlas_mine", *own)
    with_own.snakemake("verify", *own)
    page = with_own / "results/demo/atlas_mine/page.html"
    page.write_text(page.read_text() + "More.")
    said = with_own.snakemake("verify", *own, fails=True)
    assert f"{page.relative_to(with_own.root)} is damaged" in said
