"""Which settings a dry run names as changed."""

import pytest

from flatlas.report.dry_run import _changed_keys


def test_the_keys_that_differ_are_named():
    before = {repr({"a": {"b": 1, "c": 2}}), "'other'"}
    assert _changed_keys(before, {"a": {"b": 1, "c": 3}}) == ["a.c"]


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_of_a_spec_whose_text_python_cannot_read_no_key_is_named(number):
    assert _changed_keys({repr({"a": {"b": number}})}, {"a": {"b": 1}}) == []
