"""Which networks an axis compares, and at which moment."""

import made_up_networks
import pandas as pd

from flatlas.explorer.networks import compared

AXES = {"recorded": ("learning rate, recorded", "optimizer.lr"), "beyond": ("training on", "at")}


def table(sweep, *nets):
    """Networks of a sweep: run, moment and learning rate."""
    rows = [
        {"study": "atlas", "axes": sweep, "run": run, "seed": 0, "at": at, "optimizer.lr": rate}
        for run, at, rate in nets
    ]
    return pd.DataFrame(rows).assign(gap=0.1)


def test_networks_measured_only_later_are_compared_at_that_moment():
    """Recordings are measured at their end."""
    nets = table("recorded", ("a", "met+20", 0.1), ("b", "met+20", 0.2), ("b", "met+40", 0.2))
    (axis,) = compared(nets, AXES)
    on = axis.on(nets)
    assert (on["own"], on["rows"]) == (["optimizer.lr"], [0, 1])
    assert on["strata"] == [0, 0]


def test_networks_that_lack_a_setting_are_compared_within_all_others():
    """SGD lacks SAM's radius; the rates of each optimizer are compared among themselves."""
    nets = table(
        "crossed", *[(run, "met", rate) for run, rate in zip("abcd", (0.1, 0.2) * 2, strict=True)]
    )
    nets.insert(5, "optimizer.radius", [None, None, 0.05, 0.05])
    axes = {axis.name: axis for axis in compared(nets, {})}
    assert axes["crossed:optimizer.lr"].on(nets)["strata"] == [0, 0, 1, 1]


def test_networks_that_differ_in_an_option_of_their_optimizer_are_compared_apart():
    nets = table(
        "two", *[(run, "met", rate) for run, rate in zip("abcd", (0.1, 0.2) * 2, strict=True)]
    )
    nets.insert(6, "optimizer.momentum", [0.5, 0.5, 0.9, 0.9])
    axes = {axis.name: axis.on(nets)["strata"] for axis in compared(nets, {})}
    assert axes == {"two:optimizer.lr": [0, 0, 1, 1], "two:optimizer.momentum": [0, 1, 0, 1]}


def test_full_batches_are_one_setting_whatever_their_size():
    nets = table("size", *[(run, "met", 0.1) for run in "abc"])
    nets.insert(6, "data.train_size", [100, 200, 200])
    nets.insert(7, "batch", [100, 200, 200])
    sizes = {"size": ("data size", "data.train_size")}
    (axis,) = compared(nets.assign(batch=[100, 200, 200]), sizes)
    assert axis.on(nets)["strata"] == [0, 1, 1], "sizes of minibatches"
    nets.insert(8, "full_batch", [True, True, None])
    (axis,) = compared(nets, sizes)
    assert axis.on(nets)["strata"] == [0, 0, 1]


def test_an_axis_of_moments_compares_all_of_them():
    nets = table("beyond", ("a", "met", 0.1), ("a", "met+20", 0.1))
    (axis,) = compared(nets, AXES)
    assert (axis.on(nets)["own"], axis.on(nets)["rows"]) == (["at"], [0, 1])


def test_a_crossed_sweep_has_an_axis_for_each_setting(nets):
    own = {axis.name: [*axis.own] for axis in compared(nets, made_up_networks.AXES)}
    assert own["rate"] == ["optimizer.lr"]
    assert own["width"] == ["width"]
    assert own["beyond"] == ["at"]
    assert own["optimizer"] == ["optimizer.name", "optimizer.lr"]
    crossed = {name for name in own if name.startswith("crossed")}
    assert crossed == {"crossed:optimizer.lr", "crossed:batch", "crossed:width"}
