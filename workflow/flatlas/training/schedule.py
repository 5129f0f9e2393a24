"""Learning-rate schedules."""

from flatlas.plan.training_specs import Schedule


def factor(schedule: Schedule, epoch: int, epochs: int) -> float:
    """The factor of the learning rate in an epoch (from 1) of at most `epochs`."""
    if schedule.kind == "step":
        return schedule.factor ** sum(epoch > milestone for milestone in schedule.epochs)
    if schedule.kind == "linear_tail":
        progress = (epoch - 1) / epochs
        fallen = (progress - schedule.hold) / (schedule.land - schedule.hold)
        return 1.0 - (1.0 - schedule.floor) * min(max(fallen, 0.0), 1.0)
    return 1.0
