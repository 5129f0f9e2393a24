"""The page as a file: its size, its bytes, its curves."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
from explorer import EXPLORER, write_explorer
from gallery import TABLE
from made_up_explorer import explorer
from node import DATA

from flatlas.explorer.curves import POINTS, learning_curves
from flatlas.explorer.page import explorer_page

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_is_small_fetches_nothing_and_does_not_depend_on_the_order_of_rows(thousand):
    nets, page = thousand
    # The made-up claims are few; those of all galleries take 0.4 MB.
    assert len(nets) > 1000
    assert len(page.encode()) < 2_500_000
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page)
    shuffled = nets.sample(frac=1, random_state=0)
    assert explorer_page(explorer(shuffled)) == page


def test_curves_are_thinned_and_know_their_folder(tmp_path):
    epochs = np.arange(500)
    for folder, run in (("runs", "one"), ("recordings", "two")):
        history = pd.DataFrame({"epoch": np.tile(epochs, 2), "seed": np.repeat([0, 1], 500)})
        for name in ("train_loss", "test_loss", "train_error", "test_error"):
            history[name] = 1 / (3 + history["epoch"])
        (tmp_path / folder / run).mkdir(parents=True)
        history.to_parquet(tmp_path / folder / run / "history.parquet")
    curves = learning_curves(tmp_path.glob("*/*/history.parquet"))
    for (run, _), rows in curves.groupby(["run", "seed"]):
        assert len(rows) <= POINTS
        assert rows["epoch"].is_monotonic_increasing
        assert {rows["epoch"].min(), rows["epoch"].max()} == {0, 499}
        assert {*rows["folder"]} == {"runs" if run == "one" else "recordings"}
        np.testing.assert_allclose(rows["test_loss"], 1 / (3 + rows["epoch"]), rtol=5e-3)


def test_a_network_trained_elsewhere_names_its_folder(nets):
    page = explorer(nets)
    run = nets["run"][0]
    elsewhere = page.curves["folder"].mask(page.curves["run"] == run, "recordings")
    page.curves["folder"] = elsewhere
    assert f'"folders":{{"{run}":"recordings"}}' in explorer_page(page)


def test_the_gallerys_explorer_has_all_published_claims_with_their_pictures(nets, tmp_path):
    copy = tmp_path / "gallery"
    shutil.copytree(DOCS / "gallery", copy, ignore=shutil.ignore_patterns("networks.*", "*.html"))
    write_explorer(copy)
    assert not (copy / "atlas" / EXPLORER).exists(), "there are no networks to show"
    nets.to_parquet(copy / "atlas" / TABLE)
    write_explorer(copy)
    data = json.loads(DATA.search((copy / "atlas" / EXPLORER).read_text())[1])
    counts = [len(pd.read_csv(file)) for file in copy.glob("*/scorecard.csv")]
    assert len(data["claims"]) == sum(counts) > 0
    assert all((copy / "atlas" / claim["picture"]).is_file() for claim in data["claims"])
