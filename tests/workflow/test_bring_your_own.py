"""The page docs/bring-your-own.md, followed to the letter."""

import pandas as pd
import pytest
from test_adding import blocks
from test_folders import paint


@pytest.fixture
def with_own(pristine):
    """The repository as it is shipped, with a folder of images and a net of one's own."""
    net, settings = blocks("bring-your-own.md")
    (pristine / "my_nets.py").write_text(net)
    (pristine / "mine.yaml").write_text(settings)
    paint(pristine.root, seed=1, images=6, colours=3)
    return pristine


def test_own_images_and_an_own_net_are_measured(with_own):
    own = ("duality_s4", "--configfile", "mine.yaml")
    with_own.snakemake(*own)
    drawn = pd.read_csv(with_own / "results/demo/duality/s4.csv")
    assert drawn["seed"].tolist() == [0, 1]
    for measure, table, rows in (("hessian", "eigenvalues", 6), ("sharpness", "summary", 2)):
        (file,) = with_own.root.glob(f"results/measures/{measure}/*/{table}.parquet")
        assert len(pd.read_parquet(file)) == rows
    assert with_own.would_run(*own) == {}
    with_own.edit("my_nets.py", r"0\.1", "0.2")
    retaken = {f"measure_{one}": 1 for one in ("duality", "hessian", "sharpness")}
    assert with_own.would_run(*own) == {"train": 1, "duality_s4": 1} | retaken
