"""Which settings a dry run names as changed."""

import pytest

from flatlas.report.reasons import _changed_keys


def test_the_keys_that_differ_are_named():
    before = {repr({"a": {"b": 1, "c": 2}}), "'other'"}
    assert _changed_keys(before, {"a": {"b": 1, "c": 3}}) == ["a.c"]


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_no_keys_are_named_for_a_spec_with_unreadable_text(number):
    assert _changed_keys({repr({"a": {"b": number}})}, {"a": {"b": 1}}) == []
