"""The page of the user's networks: accuracy first, then every measure."""

from math import nan

import pandas as pd
import pytest
from reading import Page

from flatlas.evidence.material import Material
from flatlas.report.my_model import MyModel, my_model_page
from flatlas.studies.my_model.numbers import ACCURACY, MEASURES, accuracy

# Quantity, value, error and whether it converged.
NUMBERS = [
    ("train_error", 0.25, 0.01, True),
    ("test_error", 0.5, 0.02, True),
    ("trace", 12.5, 0.7, True),
    ("T_g", 0.5, nan, True),
    ("T_w", 7.0, nan, True),
    ("sharpness", 3.0, nan, False),
]


@pytest.fixture
def page(tmp_path):
    """The page of networks with these numbers."""
    (tmp_path / "spectrum.png").touch()

    def made(*nets, doubts=()):
        rows = [(net, 0, *one) for net in nets for one in NUMBERS]
        names = ["net.weights", "seed", "quantity", "value", "error", "settled"]
        model = MyModel(
            shows="Data: pictures.",
            nets=nets,
            doubts=doubts,
            images={"train": 1000, "test": 200},
            numbers=pd.DataFrame(rows, columns=names),
            accuracy=ACCURACY,
            measures=MEASURES,
            picture=tmp_path / "spectrum.png",
            caption="A line.",
            files=["page.csv"],
        )
        return Page(my_model_page(model))

    return made


def test_accuracy_comes_first_with_its_error_and_the_number_of_images(page):
    read = page("small.safetensors")
    assert read.ids[0] == "accuracy"
    assert "1,000" in read.text and "200" in read.text
    (_, wrong, tested), _ = read.tables
    assert wrong[1] == "25 ± 1 %"
    assert tested[1] == "50 ± 2 %"


def test_a_doubt_about_the_weights_stands_between_accuracy_and_measures(page):
    text = page("small.safetensors", doubts=["small.safetensors, near chance"]).text
    assert text.index("25 ± 1 %") < text.index("near chance") < text.index("total curvature")


def test_a_search_that_did_not_converge_is_marked(page):
    assert len(page("small.safetensors").marked["not-reproduced"]) == 1


def test_several_networks_stand_side_by_side(page):
    read = page("early.safetensors", "late.safetensors")
    for table in read.tables:
        assert table[0][1:3] == ["early.safetensors", "late.safetensors"]
    assert [len(row) for row in read.tables[1]] == [4] * 5


def test_accuracy_is_that_of_the_last_epoch_with_the_standard_error_of_a_share():
    net = {"net.weights": "a", "run": "r", "seed": 0}
    history = [net | {"epoch": n, "train_error": 0.9 - 0.4 * n, "test_error": 0.0} for n in (0, 1)]
    history = pd.DataFrame(history).assign(train_loss=1.0, test_loss=2.0, sweep="model")
    outcomes = pd.DataFrame([net | {"sweep": "model", "epoch": 1, "converged": True}])
    material = Material({"history": history, "outcomes": outcomes})
    found = accuracy(material, {"train": 10000, "test": 100}).set_index("quantity")
    assert found["value"].to_dict() == {
        "train_error": 0.5, "test_error": 0.0, "train_loss": 1.0, "test_loss": 2.0
    }  # fmt: skip
    assert found.loc["train_error", "error"] == pytest.approx(0.005, rel=1e-3)
    assert found.loc["test_error", "error"] > 0, "none wrong of a hundred is no proof of none"
