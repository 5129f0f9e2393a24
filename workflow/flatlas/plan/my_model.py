"""The study of the user's trained network: config/my_model.yaml with what the setting names."""

from pathlib import Path

from flatlas.plan.documents import Document, Layer, read_yaml
from flatlas.plan.paths import MY_MODEL
from flatlas.plan.settings import MyModel
from flatlas.plan.trees import USER, with_value

# Where the study has what each key of the setting says.
PLACES = {
    "images": ("runs", "model", "data", "source"),
    "module": ("runs", "model", "net", "module"),
    "arguments": ("runs", "model", "net", "arguments"),
    "weights": ("sweeps", "model", "grid", "net.weights"),
    "expected": ("runs", "model", "expected"),
}
# A run that expects something is one of a checkpoint, also before the sweep replaces it.
FIRST_WEIGHTS = ("runs", "model", "net", "weights")


def my_model(said: MyModel, root: Path, changes: Layer) -> Document:
    """The study; `changes` are those of the user to the rest of it."""
    tree = with_value({}, FIRST_WEIGHTS, said.weights[0])
    for key, value in said.model_dump(mode="json", exclude_none=True).items():
        tree = with_value(tree, PLACES[key], value)
    places = [*PLACES.items(), ("weights", FIRST_WEIGHTS)]
    written = {".".join(place): f"{MY_MODEL}.{key}" for key, place in places}
    file = root / f"{MY_MODEL}.yaml"
    shipped = Layer(f"config/{file.name}", read_yaml(file))
    return Document(shipped, Layer(USER, tree, (MY_MODEL,), written), changes)
