"""for and while: loops over what is known while compiling are unrolled, loops that depend on
tensors become loops of the compiled program."""

import ast

from mycel import _mycel
from mycel._mycel import Tensor
from mycel.common import dtype as mstype
from mycel.front import calls, hints, regions, values
from mycel.front.items import SymbolicRange, indexed
from mycel.front.outcome import (
    NEVER,
    NORMAL,
    RETURN,
    Outcome,
    after_loop,
    left,
    parts,
    without_continue,
)
from mycel.front.places import Variable
from mycel.front.values import UNDEFINED, Unmergeable


class Loops:
    """The part of an Activation that runs loops."""

    __slots__ = ()

    def for_loop(self, node):
        """A for statement."""
        items = self.eval(node.iter)
        self.node = node
        if isinstance(items, SymbolicRange):
            return self.count(node, items)
        found = indexed(items)
        if found is not None:
            return self.rows(node, found)
        return self.unrolled(node, calls.iterate(self, items))

    # -- known while compiling

    def unrolled(self, node, items):
        """The body once per item."""
        outcome = None
        for item in items:
            outcome = self.maybe(outcome, lambda item=item: self.iteration(node, item))
            if outcome is not None and NORMAL not in outcome.codes:
                break
        return self.leave(node, outcome)

    def maybe(self, outcome, run):
        """run() where the loop has not been left."""
        if outcome is None:
            return without_continue(run())
        return self.cond(
            outcome.status == NORMAL,
            lambda: without_continue(run()),
            lambda: left(outcome),
            lambda _: True,
            ("while the loop goes on", "where it has been left"),
        )

    def iteration(self, node, item):
        self.assign(node.target, item)
        return self.block(node.body)

    def leave(self, node, outcome):
        """What follows a loop: its else, unless a break ended it."""
        if node.orelse:
            if outcome is None:
                return self.block(node.orelse)
            if outcome.open and NORMAL in outcome.codes:
                outcome = self.cond(
                    outcome.status == NORMAL,
                    lambda: self.block(node.orelse),
                    lambda: left(outcome),
                    lambda _: True,
                    ("in the loop's else", "after break"),
                )
        return after_loop(outcome)

    def while_loop(self, node):
        """A while statement."""
        outcome = None
        while True:
            truth = self.test(node.test)
            if isinstance(truth, Tensor):
                if outcome is None:
                    return self.compiled_while(node)
                return self.leave(node, self.maybe(outcome, lambda: self.compiled_while(node)))
            if not truth:
                break
            if _may_leave(node) and self.ends_on_tensor(node):
                return self.compiled_while(node)
            outcome = self.maybe(outcome, lambda: self.block(node.body))
            if outcome is not None and outcome.open:
                return self.go_on(outcome, node, [node])
            if outcome is not None:
                break
        return self.leave(node, outcome)

    def ends_on_tensor(self, node):
        """Whether an iteration may leave the loop depending on tensors: tried and thrown away."""
        trace = regions.trial(self.compiling, lambda: without_continue(self.block(node.body)))
        return trace is not None and trace.open

    # -- depending on tensors

    def compiled_while(self, node):
        """A loop of the compiled program on the condition of a while."""
        state = _LoopState(self, node)

        def test():
            truth = self.test(node.test)
            return state.going(regions.as_bool(truth))

        try:
            outcome = state.run(test, lambda: self.block(node.body))
        except regions.ConditionChanges:
            # The condition has effects: it is computed at the end of each iteration instead.
            go = Variable(self.compiling.own_scope(), "condition")
            state = _LoopState(self, node)
            go.set(regions.as_bool(self.test(node.test)))

            def body():
                end = without_continue(self.block(node.body))
                again = lambda: self.compiling.set(go, regions.as_bool(self.test(node.test)))
                if end is None:
                    again()
                elif NORMAL in end.codes:
                    self.cond(end.status == NORMAL, again, lambda: None, lambda _: True, ("", ""))
                return end

            outcome = state.run(lambda: state.going(go.get()), body)
        self.node = node
        return self.leave(node, outcome)

    def count(self, node, numbers):
        """A loop of the compiled program over a range."""
        start, stop, step = numbers.start, numbers.stop, numbers.step
        tensors = [v for v in (start, stop, step) if isinstance(v, Tensor)]
        dtype = tensors[0].dtype
        if any(t.dtype != dtype for t in tensors):
            dtype = mstype.int64
        as_number = lambda v: (
            v.reshape(()).astype(dtype) if isinstance(v, Tensor) else Tensor(v, dtype)
        )
        start, stop, step = as_number(start), as_number(stop), as_number(step)
        if values.known(step):
            if int(step) == 0:
                raise ValueError("range() arg 3 must not be zero")
            up = int(step) > 0
            goes_on = (lambda i: i < stop) if up else (lambda i: i > stop)
        else:
            goes_on = lambda i: (stop - i) * step > 0
        index = Variable(self.compiling.own_scope(), "index")
        index.set(start + _mycel.op("zeros_like")(stop))
        state = _LoopState(self, node)

        def body():
            i = index.get()
            self.compiling.set(index, i + step)
            return self.iteration(node, i)

        outcome = state.run(lambda: state.going(goes_on(index.get())), body, index)
        self.node = node
        return self.leave(node, outcome)

    def rows(self, node, items):
        """A loop of the compiled program over items by index; unrolled where the body does
        something that a compiled loop cannot, such as appending to a list."""
        length = items.length()
        known = not isinstance(length, Tensor)
        index = Variable(self.compiling.own_scope(), "index")
        index.set(Tensor(0))
        state = _LoopState(self, node)
        limit = Tensor(length) if known else length

        def body():
            i = index.get()
            self.compiling.set(index, i + 1)
            return self.iteration(node, items.at(i))

        try:
            outcome = state.run(lambda: state.going(index.get() < limit), body, index)
        except Unmergeable:
            if not known:
                raise
            self.node = node
            return self.unrolled(node, iter([items.at(i) for i in range(length)]))
        self.node = node
        return self.leave(node, outcome)


class _LoopState:
    """How a compiled loop has ended so far: carried like any other variable."""

    def __init__(self, activation, node):
        self.activation, self.compiling, self.node = activation, activation.compiling, node
        scope = self.compiling.own_scope()
        self.status, self.value = Variable(scope, "status"), Variable(scope, "value")
        self.status.set(NORMAL)
        self.codes = frozenset((NORMAL,))
        self.begun = False  # the first iteration stands before the loop

    def going(self, condition):
        """`condition`, as long as nothing has left the loop."""
        status = self.status.get()
        if not isinstance(status, Tensor):
            return condition
        return _mycel.op("logical_and")(status == NORMAL, condition)

    def run(self, test, body, counter=None):
        """The outcome of the loop."""

        def iteration():
            end = without_continue(body())
            codes, status, value = parts(end)
            self.codes = frozenset((NORMAL,)) | (codes - {NEVER})
            if codes - {NORMAL, NEVER}:
                self.compiling.set(self.status, status)
                if value is not UNDEFINED:
                    if self.value.get() is UNDEFINED:
                        raise _Returns(value)
                    self.compiling.set(self.value, value)

        own = [self.status, self.value] + ([] if counter is None else [counter])
        while True:
            try:
                place = hints.Place(self.activation, self.node, own)
                regions.run_while(self.compiling, test, iteration, counter, place, self.begun)
                break
            except regions.Aliased:
                self.begun = True
                return self.first_apart(test, body, counter)
            except _Returns as found:  # nothing has been changed yet
                self.value.set(values.zeros_for(found.value))
        status = self.status.get()
        if not isinstance(status, Tensor):
            return None
        value = self.value.get()
        if RETURN in self.codes and isinstance(value, values.Unusable):
            raise Unmergeable(f"what this loop returns has no single type: {value.reason}")
        return Outcome(status, value, self.codes)

    def first_apart(self, test, body, counter):
        """The outcome of the loop with its first iteration before it."""

        def first():
            end = without_continue(body())
            rest = lambda: self.run(test, body, counter)
            return rest() if end is None else self.where(end.status == NORMAL, rest, left(end))

        return self.where(regions.as_bool(test()), first, None)

    def where(self, pred, run, otherwise):
        texts = ("when the loop begins", "otherwise")
        return self.activation.cond(pred, run, lambda: otherwise, lambda _: True, texts)


class _Returns(Exception):
    """The loop returns from the function: what, is known once its body has been traced."""

    def __init__(self, value):
        self.value = value


def _may_leave(node):
    found = getattr(node, "_may_leave", None)
    if found is None:
        found = any(_leaves(s) for s in node.body)
        node._may_leave = found
    return found


def _leaves(node):
    if isinstance(node, (ast.Return, ast.Raise, ast.Break)):
        return True
    return any(_leaves(n) for n in ast.iter_child_nodes(node) if isinstance(n, ast.stmt))
