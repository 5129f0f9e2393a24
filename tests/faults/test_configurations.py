"""The short form of the fuzzer; `python tests/faults configurations` runs the long one."""

from configurations import OUTCOMES, trials


def test_a_spoilt_configuration_is_planned_or_refused_with_a_sentence():
    bad = [str(trial) for trial in trials(60, seed=25) if trial.outcome in OUTCOMES[2:]]
    assert not bad, "\n".join(bad)
