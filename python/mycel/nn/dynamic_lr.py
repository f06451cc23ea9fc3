"""Learning rates as lists with one number a step."""

import math

from mycel._mycel import entry


def _positive_int(name, value, what):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name}: '{what}' must be an int, got {type(value).__name__}")
    if value <= 0:
        raise ValueError(f"{name}: '{what}' must be positive, got {value}")


def _number(name, value, what, zero=False):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name}: '{what}' must be a number, got {type(value).__name__}")
    if value < 0 or (value == 0 and not zero):
        raise ValueError(
            f"{name}: '{what}' must be {'at least 0' if zero else 'positive'}, got {value}"
        )


def _decay(
    name, learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair, rule
):
    _number(name, learning_rate, "learning_rate")
    _number(name, decay_rate, "decay_rate")
    _positive_int(name, total_step, "total_step")
    _positive_int(name, step_per_epoch, "step_per_epoch")
    _positive_int(name, decay_epoch, "decay_epoch")
    if not isinstance(is_stair, bool):
        raise TypeError(f"{name}: 'is_stair' must be True or False, got {is_stair!r}")
    rates = []
    for step in range(total_step):
        epoch = step // step_per_epoch
        rates.append(rule(epoch // decay_epoch if is_stair else epoch / decay_epoch, epoch))
    return rates


@entry
def piecewise_constant_lr(milestone, learning_rates):
    """learning_rates[i] for the steps from milestone[i - 1] (first: 0) up to milestone[i]."""
    name = "piecewise_constant_lr"
    for what, value in (("milestone", milestone), ("learning_rates", learning_rates)):
        if not isinstance(value, (tuple, list)):
            raise TypeError(f"{name}: '{what}' must be a list or tuple, got {type(value).__name__}")
    if len(milestone) != len(learning_rates):
        raise ValueError(f"{name}: {len(milestone)} milestones for {len(learning_rates)} rates")
    rates, last = [], 0
    for end, rate in zip(milestone, learning_rates):
        _positive_int(name, end, "milestone")
        _number(name, rate, "learning_rates", zero=True)
        if end < last:
            raise ValueError(f"{name}: milestones must rise, got {end} after {last}")
        rates += [rate] * (end - last)
        last = end
    return rates


@entry
def exponential_decay_lr(
    learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair=False
):
    """learning_rate * decay_rate^(epoch / decay_epoch) for each step; is_stair rounds the exponent
    down."""
    rule = lambda p, _: learning_rate * decay_rate**p
    return _decay("exponential_decay_lr", learning_rate, decay_rate, total_step, step_per_epoch,
                  decay_epoch, is_stair, rule)  # fmt: skip


@entry
def natural_exp_decay_lr(
    learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair=False
):
    """learning_rate * exp(-decay_rate * epoch) for each step; is_stair takes the epoch in whole
    multiples of decay_epoch."""
    rule = lambda p, epoch: (
        learning_rate * math.exp(-decay_rate * (p * decay_epoch if is_stair else epoch))
    )
    return _decay("natural_exp_decay_lr", learning_rate, decay_rate, total_step, step_per_epoch,
                  decay_epoch, is_stair, rule)  # fmt: skip


@entry
def inverse_decay_lr(
    learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair=False
):
    """learning_rate / (1 + decay_rate * epoch / decay_epoch) for each step; is_stair rounds the
    quotient down."""
    rule = lambda p, _: learning_rate / (1 + decay_rate * p)
    return _decay("inverse_decay_lr", learning_rate, decay_rate, total_step, step_per_epoch,
                  decay_epoch, is_stair, rule)  # fmt: skip


@entry
def cosine_decay_lr(min_lr, max_lr, total_step, step_per_epoch, decay_epoch):
    """min_lr + (max_lr - min_lr) (1 + cos(pi * epoch / decay_epoch)) / 2 for each step, epochs
    counted up to decay_epoch."""
    name = "cosine_decay_lr"
    _number(name, min_lr, "min_lr", zero=True)
    _number(name, max_lr, "max_lr")
    _positive_int(name, total_step, "total_step")
    _positive_int(name, step_per_epoch, "step_per_epoch")
    _positive_int(name, decay_epoch, "decay_epoch")
    if min_lr >= max_lr:
        raise ValueError(f"{name}: 'max_lr' {max_lr} must be above 'min_lr' {min_lr}")
    rates = []
    for step in range(total_step):
        epoch = min(step // step_per_epoch, decay_epoch)
        rates.append(
            min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * epoch / decay_epoch))
        )
    return rates


@entry
def polynomial_decay_lr(
    learning_rate,
    end_learning_rate,
    total_step,
    step_per_epoch,
    decay_epoch,
    power,
    update_decay_epoch=False,
):
    """(learning_rate - end_learning_rate) (1 - min(epoch, d) / d)^power + end_learning_rate for
    each step, d = decay_epoch, or with update_decay_epoch the next multiple of it."""
    name = "polynomial_decay_lr"
    _number(name, learning_rate, "learning_rate")
    _number(name, end_learning_rate, "end_learning_rate", zero=True)
    _positive_int(name, total_step, "total_step")
    _positive_int(name, step_per_epoch, "step_per_epoch")
    _positive_int(name, decay_epoch, "decay_epoch")
    _number(name, power, "power")
    rates = []
    for step in range(total_step):
        epoch, span = step // step_per_epoch, decay_epoch
        if update_decay_epoch:
            span *= max(math.ceil(epoch / decay_epoch), 1)
        rest = 1 - min(epoch, span) / span
        rates.append((learning_rate - end_learning_rate) * rest**power + end_learning_rate)
    return rates


@entry
def warmup_lr(learning_rate, total_step, step_per_epoch, warmup_epoch):
    """learning_rate * min(epoch, warmup_epoch) / warmup_epoch for each step."""
    name = "warmup_lr"
    _number(name, learning_rate, "learning_rate", zero=True)
    _positive_int(name, total_step, "total_step")
    _positive_int(name, step_per_epoch, "step_per_epoch")
    if isinstance(warmup_epoch, bool) or not isinstance(warmup_epoch, int) or warmup_epoch < 0:
        raise ValueError(
            f"{name}: 'warmup_epoch' must be an int of at least 0, got {warmup_epoch!r}"
        )
    if warmup_epoch == 0:
        return [learning_rate] * total_step
    epochs = (min(step // step_per_epoch, warmup_epoch) for step in range(total_step))
    return [learning_rate * epoch / warmup_epoch for epoch in epochs]


__all__ = [
    "cosine_decay_lr",
    "exponential_decay_lr",
    "inverse_decay_lr",
    "natural_exp_decay_lr",
    "piecewise_constant_lr",
    "polynomial_decay_lr",
    "warmup_lr",
]
