"""The user's configuration: config/config.yaml with the changes from the command line."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, JsonValue, field_validator, model_validator

from flatlas.plan.bounds import Class, HomePath, Name, PathText
from flatlas.plan.data_specs import SourceSpec
from flatlas.plan.spec import Distinct, Spec
from flatlas.plan.training_specs import Expected


def _in_a_list(given: Any) -> Any:
    return [given] if isinstance(given, str) else given


class MyModel(Spec):
    """Your trained networks, which `snakemake my_model` and `atlas_mine` measure.

    See docs/bring-your-own.md.
    """

    images: str
    """A name from `sources`."""
    module: str | None = None
    """`my_nets:Small`: the class or function in my_nets.py that makes the network."""
    arguments: dict[str, JsonValue] = Field(default={})
    """The arguments of that class or function."""
    net: dict[str, JsonValue] | None = None
    """`{family: dense, hidden: [40, 40], bias: true}`, in place of `module`: for more measures."""
    weights: Annotated[
        tuple[PathText, ...], Field(min_length=1), Distinct, BeforeValidator(_in_a_list)
    ]
    """safetensors file with its `state_dict`, or a list of several."""
    positive: tuple[Class, ...] | None = None
    """Binary task: label 1 for these classes, 0 for the others, and one output."""
    same_as: str | None = None
    """The source of the same images, from `sources`: its networks are compared with yours."""
    expected: Expected | None = None

    @model_validator(mode="after")
    def _one_network(self) -> "MyModel":
        if (self.module is None) == (self.net is None):
            raise ValueError("set exactly one of module and net")
        if self.net is not None and self.arguments:
            raise ValueError("arguments are those of a module: leave them out")
        return self

    @field_validator("net")
    @classmethod
    def _with_given_weights(cls, net: dict[str, JsonValue] | None) -> dict[str, JsonValue] | None:
        """Of flatlas' own families only `dense` takes weights; `module` names a user's module."""
        if net is not None and "weights" in net:
            raise ValueError("weights stand beside net, not in it")
        if net is not None and net.get("family") != "dense":
            said = f"is {net['family']!r}" if "family" in net else "is missing"
            raise ValueError(
                f"family {said}. Allowed: dense. For any other network set module, in place of net"
            )
        return net


class Settings(Spec):
    """The keys of config/config.yaml."""

    preset: Name
    """The scale: the name of a file in `presets/`."""
    complete: bool = True
    """`false`: scorecards and `report` cover only the figures that are drawn already."""
    before: HomePath | None = None
    """For `compare`: a folder with a `scorecard.csv`, or that file."""
    after: HomePath | None = None
    """The folder to compare with it."""
    data_root: HomePath
    """The folder of the data sets: `MNIST/raw/`, `cifar-10-batches-py/`, folders of images.

    Missing ones are downloaded to it.
    """
    distributed: bool = False
    """`true`: a process for each learner of SSGD and DPSGD (docs/scale.md)."""
    warm_start: bool = True
    """`false`: every local job starts its own Python (docs/reruns.md). Results are the same."""
    sources: dict[Name, SourceSpec]
    """The names that studies use."""
    my_model: MyModel | None = None
    studies: dict[Name, dict[str, Any]] = Field(default={})
    """Your changes, `{duality: {runs: {base: {optimizer: {lr: 0.05}}}}}`, and your own studies."""


class Preset(Spec):
    """A preset: its changes to each study.

    `judged` says whether its data are enough to decide the papers' claims.
    """

    title: str
    """Its name on pages."""
    judged: bool = True
    """`false`: every verdict is `undecided`."""
    studies: dict[str, dict[str, Any]] = Field(default={})
    """Changes to each study: an entry for every study (`{}`: none), or no entries at all."""
