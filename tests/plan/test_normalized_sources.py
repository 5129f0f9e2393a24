"""A source's `normalize` in a plan: part of the spec, and refused with its key."""

import pytest

from flatlas.plan.data_specs import subset_of

NORMALIZE = {"mean": [0.3], "std": [0.4]}
KEY = "sources.digits.normalize"


def test_results_of_normalized_images_have_ids_of_their_own(plan_of):
    plans = [
        plan_of(user=user)
        for user in ({}, {KEY: NORMALIZE}, {KEY: NORMALIZE | {"std": [0.5]}}, {KEY: None})
    ]
    for kind in ("sources", "samples", "runs", "measurements"):
        plain, *normalized, off = (set(getattr(plan, kind)) for plan in plans)
        assert off == plain
        assert len(set.union(plain, *normalized)) == 3 * len(plain)
    for run in plans[1].runs.values():
        assert subset_of(run.samples).source.normalize.mean == (0.3,)


@pytest.mark.parametrize(
    ("given", "place", "said"),
    [
        (NORMALIZE | {"std": [0.4, 0.4]}, "sources.digits", "normalize.std has length 2"),
        (NORMALIZE | {"std": [0]}, f"{KEY}.std.0 is 0", "Allowed: greater than"),
        (NORMALIZE | {"mean": [125.3]}, f"{KEY}.mean.0 is 125.3", "less than or equal to 1"),
        (NORMALIZE | {"sdt": [1]}, f"{KEY}.sdt", "Did you mean 'std'?"),
    ],
)
def test_wrong_numbers_are_refused(refused, given, place, said):
    message = refused(user={KEY: given})
    assert f": {place}" in message
    assert said in message
