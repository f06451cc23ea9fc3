"""Branches and loops of the compiled program. The engine runs a piece of interpreted code inside a
region, sees in the journal what it changed, and makes results of a `cond` or carried values of a
`while_loop` of it."""

from mycel import _mycel
from mycel._mycel import Tensor
from mycel.common import dtype as mstype
from mycel.front import values
from mycel.front.places import ParameterValue, Variable
from mycel.front.values import UNDEFINED, Unmergeable, Unusable, kind

_MAX_ROUNDS = 16  # of finding out what a loop carries


class _Trace:
    """One run of code inside a region: what it gave and what it changed."""

    def __init__(self, compiling, body, name, operands=(), prepare=None):
        self.region = _mycel.OpenRegion(list(operands), name)
        journal = compiling.enter()
        parameters = _mycel.ParameterValues()
        try:
            if prepare is not None:
                prepare(self.region.params)
            self.value = body()
            self.finals = journal.finals()
            for parameter, value in parameters.take_back():
                location = ParameterValue(parameter)
                self.finals[location.key()] = (location, value)
        finally:
            journal.roll_back()
            parameters.take_back()  # last: the journal may have met them changed already
            compiling.leave()
            self.region.suspend()


def _join(location, a, b, into_a, into_b, texts):
    """The joined value of one location, Unusable where a variable has none."""
    if a is UNDEFINED and b is UNDEFINED:
        return ("same", UNDEFINED)
    length = len(into_a)
    try:
        if a is UNDEFINED or b is UNDEFINED:
            where = texts[0] if b is UNDEFINED else texts[1]
            raise Unmergeable(f"it is assigned only {where}")
        if isinstance(a, Unusable) or isinstance(b, Unusable):
            return ("same", a if isinstance(a, Unusable) else b)
        return values.join(a, b, into_a, into_b)
    except Unmergeable as error:
        del into_a[length:], into_b[length:]
        if a is UNDEFINED or b is UNDEFINED:
            reason = str(error)
        else:
            reason = f"it is {kind(a)} {texts[0]} and {kind(b)} {texts[1]}"
        if isinstance(location, Variable):
            return ("same", Unusable(reason))
        raise Unmergeable(
            f"{location.text()} cannot be changed here: {reason}; both must be tensors of one "
            "dtype and shape, or equal"
        ) from None


def run_cond(compiling, pred, then, otherwise, live, texts, merge, gone=None):
    """Runs `then` and `otherwise` as the branches of a cond on the symbolic bool `pred`.

    live: whether a variable may be read afterwards. texts: how messages name the branches. merge:
    gives (value for the first, value for the second) to join out of what the two gave. gone(i,
    location): whether branch i ends so that nobody reads the location afterwards.
    """
    a = _Trace(compiling, then, "then")
    b = _Trace(compiling, otherwise, "otherwise")
    first, second, dead_a, dead_b = merge(a.value, b.value)
    into_a, into_b, joined = [], [], []
    for key in {**a.finals, **b.finals}:
        location = (a.finals.get(key) or b.finals[key])[0]
        before = location.get()
        va = a.finals[key][1] if key in a.finals else before
        vb = b.finals[key][1] if key in b.finals else before
        unread_a = dead_a or (gone is not None and gone(0, location))
        unread_b = dead_b or (gone is not None and gone(1, location))
        if va is vb and not (unread_a or unread_b):
            if va is not before:
                joined.append((location, ("same", va)))
            continue
        if isinstance(location, Variable) and not live(location):
            joined.append((location, ("same", UNDEFINED)))
            continue
        if unread_a:
            va = values.zeros_for(vb)
        elif unread_b:
            vb = values.zeros_for(va)
        joined.append((location, _join(location, va, vb, into_a, into_b, texts)))
    try:
        value = values.join(first, second, into_a, into_b)
    except Unmergeable as error:
        raise Unmergeable(
            f"the function returns values of two kinds: {error}; both must be tensors of one dtype "
            "and shape, or equal"
        ) from None
    a.region.finish(into_a)
    b.region.finish(into_b)
    results = _mycel.cond_of(pred, a.region, b.region) if into_a else []
    for location, key in joined:
        compiling.set(location, values.rebuild(key, results))
    return values.rebuild(value, results)


def trial(compiling, body):
    """What body() gives, with everything that it does thrown away."""
    return _Trace(compiling, body, "trial").value


class _Carried:
    """The values that a loop carries, found by running its body until nothing new turns up."""

    def __init__(self):
        self.values = {}  # key -> [location, first value, value carried so far]
        self.lost = {}  # key -> (location, Unusable)

    def operands(self):
        out = []
        self.keys = {k: values.leaves(v[2], out) for k, v in self.values.items()}
        return out

    def install(self, compiling, params):
        """Puts the region's parameters into the locations."""
        for key, (location, _, _) in self.values.items():
            compiling.set(location, values.rebuild(self.keys[key], params))
        for location, unusable in self.lost.values():
            compiling.set(location, unusable)

    def learn(self, finals):
        """Takes the state after an iteration in; whether something was new."""
        new = False
        for key, (location, after) in finals.items():
            if key in self.lost:
                continue
            known = self.values.get(key)
            first = known[1] if known else location.get()
            now = known[2] if known else first
            try:
                if first is UNDEFINED and after is UNDEFINED:
                    continue
                if first is UNDEFINED or isinstance(first, Unusable) or after is UNDEFINED:
                    raise Unmergeable("it has no value before the first iteration")
                if isinstance(after, Unusable):
                    raise Unmergeable(after.reason)
                lifted = values.lift(first, now, after)
            except Unmergeable as error:
                reason = str(error)
                if " and " in reason and first is not UNDEFINED:
                    reason = (
                        f"it is {kind(first)} before the loop and {kind(after)} after an iteration"
                    )
                if not isinstance(location, Variable):
                    raise Unmergeable(
                        f"{location.text()} cannot be changed in this loop: {reason}; a compiled "
                        "loop carries tensors whose dtype and shape stay, and numbers"
                    ) from None
                self.values.pop(key, None)
                self.lost[key] = (location, Unusable(reason))
                new = True
                continue
            if known is None:
                if lifted is first and values.same(first, after):
                    continue
                self.values[key] = [location, first, lifted]
                new = True
            elif lifted is not now:
                known[2] = lifted
                new = True
        return new

    def aliased(self):
        """Whether a variable names a Parameter when the loop begins, and both change inside: in the
        first iteration it is that Parameter, later a value of its own."""
        return any(
            isinstance(location, Variable)
            and isinstance(first, Tensor)
            and _mycel.is_parameter(first)
            and ParameterValue(first).key() in self.values
            for location, first, _ in self.values.values()
        )


def run_while(compiling, test, body, counter=None, place=None, aliases=False):
    """A loop `while test(): body()` of the compiled program. Aliased where a variable names a
    Parameter in the first iteration only, unless `aliases` are fine.

    test: gives a symbolic bool and changes nothing. body: runs one iteration. counter: a Variable
    that counts iterations as a tensor, if there is one anyway: draws of random ops depend on it.
    place: the hints.Place of the loop.
    """
    carried = _Carried()
    if place is not None:
        carried.values, carried.lost = place.start()
    if counter is not None:
        carried.values[counter.key()] = [counter, counter.get(), counter.get()]
    own = Variable(compiling.own_scope(), "iteration")
    for _ in range(_MAX_ROUNDS):
        drawn = 0

        def iteration(counter=counter):
            nonlocal drawn
            keys = _mycel.IterationKeys(counter.get() if counter is not None else Tensor(0))
            try:
                body()
                drawn = keys.drawn
            finally:
                keys.close()
            if counter is own:
                compiling.set(own, own.get() + 1)

        operands = carried.operands()
        trace = _Trace(
            compiling,
            iteration,
            "body",
            operands,
            lambda params: carried.install(compiling, params),
        )
        new = carried.learn(trace.finals)
        if drawn and counter is None:
            own.set(Tensor(0))
            counter = own
            carried.values[own.key()] = [own, own.get(), own.get()]
            new = True
        if not new:
            break
    else:
        raise Unmergeable("what this loop carries does not settle: a variable changes its kind")
    if not aliases and carried.aliased():
        raise Aliased
    if place is not None:
        place.note(carried.values, carried.lost)
    results = []
    for key, (_, _, now) in carried.values.items():
        values.fitted(now, trace.finals[key][1], results)
    condition = _Trace(
        compiling, test, "condition", operands, lambda params: carried.install(compiling, params)
    )
    if set(condition.finals) - set(carried.values) - set(carried.lost):
        raise ConditionChanges
    trace.region.finish(results)
    condition.region.finish([condition.value])
    out = _mycel.while_of(condition.region, trace.region, operands)
    for key, (place, _, _) in carried.values.items():
        compiling.set(place, values.rebuild(carried.keys[key], out))
    for place, unusable in carried.lost.values():
        compiling.set(place, unusable)


class Aliased(Exception):
    """The first iteration of a loop differs from the others."""


class ConditionChanges(Exception):
    """The condition of a loop assigns variables or prints."""


def as_bool(value):
    """The truth of a symbolic tensor as a tensor bool[]."""
    if not isinstance(value, Tensor):
        return Tensor(bool(value))
    if value.size != 1:
        raise ValueError(
            f"the truth value of {kind(value)} is ambiguous: it has {value.size} elements\n"
            "  Use .all() or .any()."
        )
    if value.shape != ():
        value = value.reshape(())
    return value if value.dtype == mstype.bool_ else value != 0
