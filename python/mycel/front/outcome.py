"""How a statement ends: it falls through (None), leaves the loop or the function, raises, or one of
several of these, depending on tensors."""

from mycel._mycel import Tensor
from mycel.front import values
from mycel.front.values import UNDEFINED

NORMAL, BREAK, CONTINUE, RETURN, NEVER = range(5)


class Outcome:
    """An end other than falling through. status: one of the codes, or a symbolic integer that is
    one of `codes`; value: what the function returns where it does."""

    __slots__ = ("__dict__", "codes", "place", "status", "value")

    def __init__(self, status, value=UNDEFINED, codes=None, place=None):
        self.status, self.value, self.place = status, value, place
        self.codes = frozenset((status,)) if codes is None else codes

    unknown = False  # whether a path has been left out

    @property
    def open(self):
        """Whether the program decides at run time how it ends."""
        return isinstance(self.status, Tensor)


FINISHED_BREAK = Outcome(BREAK)
FINISHED_CONTINUE = Outcome(CONTINUE)
FINISHED_NEVER = Outcome(NEVER)
LEFT_OUT = Outcome(NEVER)  # calls a function whose results are not known yet
LEFT_OUT.unknown = True


def parts(outcome):
    """(codes, status, value) of an outcome."""
    if outcome is None:
        return frozenset((NORMAL,)), NORMAL, UNDEFINED
    return outcome.codes, outcome.status, outcome.value


def merge(a, b):
    """For regions.run_cond: what the outcomes of two branches give to be joined."""
    dead_a = a is not None and a.codes == {NEVER}
    dead_b = b is not None and b.codes == {NEVER}
    (_, status_a, value_a), (_, status_b, value_b) = parts(a), parts(b)
    if dead_a and not dead_b:
        status_a = values.zeros_for(status_b)
    if dead_b and not dead_a:
        status_b = values.zeros_for(status_a)
    if value_a is UNDEFINED and value_b is not UNDEFINED:
        value_a = values.zeros_for(value_b)
    if value_b is UNDEFINED and value_a is not UNDEFINED:
        value_b = values.zeros_for(value_a)
    return (status_a, value_a), (status_b, value_b), dead_a, dead_b


def joined(a, b, pair):
    """The outcome of an `if` whose branches ended as a and b; pair: joined status and value."""
    codes = parts(a)[0] | parts(b)[0]
    if codes == {NEVER} and (a.unknown or b.unknown):
        return LEFT_OUT
    if len(codes) > 1:
        codes -= {NEVER}
    status, value = pair
    if len(codes) == 1:
        (code,) = codes
        return None if code == NORMAL else Outcome(code, value)
    if not isinstance(status, Tensor):
        # Both paths agree at compile time although they might have differed.
        return None if status == NORMAL else Outcome(status, value)
    return Outcome(status, value, codes)


def without_continue(outcome):
    """The outcome of an iteration as the loop sees it: going on is going on."""
    if outcome is None or CONTINUE not in outcome.codes:
        return outcome
    codes = (outcome.codes - {CONTINUE}) | {NORMAL}
    if codes == {NORMAL}:
        return None
    status = outcome.status * (outcome.status != CONTINUE).astype(outcome.status.dtype)
    return Outcome(status, outcome.value, codes)


def after_loop(outcome):
    """The outcome of the whole loop: a break ends it, and the program goes on behind."""
    if outcome is None or BREAK not in outcome.codes:
        return outcome
    codes = (outcome.codes - {BREAK}) | {NORMAL}
    if codes == {NORMAL}:
        return None
    status = outcome.status * (outcome.status != BREAK).astype(outcome.status.dtype)
    return Outcome(status, outcome.value, codes)


def left(outcome):
    """The same outcome on the path where the program has not fallen through."""
    codes = outcome.codes - {NORMAL}
    if len(codes) == 1:
        (code,) = codes
        return Outcome(code, outcome.value)
    return Outcome(outcome.status, outcome.value, codes)
