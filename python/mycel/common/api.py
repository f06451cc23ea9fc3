"""Compiled functions: `jit` traces a Python function once per signature and runs it as one plan.

A signature is the dtypes and shapes of the tensors among the arguments, and the values of
everything else. While tracing, tensors have no values: Python code that asks for one (`if x > 0:`)
is an error that names the line. Parameters that the function reads are inputs of the plan, those
that it assigns are updated after each run, and random ops draw fresh numbers in each run."""

import functools
import os
import sys
import threading

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel.common._signature import parts_of, reason_outside
from mycel.common.mutable import mutable
from mycel.common.parameter import Parameter
from mycel.front import compile_function, here, wrap
from mycel.front.arguments import flatten_arguments, unknown_lengths
from mycel.front.guards import Guards, plain_key
from mycel.front.places import Given
from mycel.ops._transforms import flatten, unflatten

_CACHE_LIMIT = 256  # signatures kept per function; the oldest goes first
_FORMS_LIMIT = 8  # programs kept per signature, for other values of what is read from outside


def _hashable(key):
    """A structure key of `flatten_arguments` as something a dict can hold; unhashable constants by
    identity."""
    if key is Tensor:
        return "T"
    kind, content = key
    if kind is None:
        return _constant(content)
    return (
        kind,
        tuple(_hashable(k) if kind is not dict else (k[0], _hashable(k[1])) for k in content),
    )


def _constant(value):
    if isinstance(value, Parameter):
        return ("parameter", id(value))
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        return ("array", value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, (set, frozenset)):
        return (type(value), frozenset(map(_constant, value)))
    try:
        hash(value)
    except TypeError:
        return ("id", id(value))
    return (type(value), plain_key(value))


def _constant_key(t):
    return ("const", id(t)) if t.const_arg else (t.dtype, t.shape)


class CompiledFunction:
    """What `jit` gives: callable like the function; `graph(*args)` shows the graph of a
    signature."""

    def __init__(self, fn, input_signature=None, hash_args=None):
        self.fn, self.input_signature, self.hash_args = fn, input_signature, hash_args
        self._cache = {}
        self._by_shape = False  # compile for each shape although dims are declared as unknown
        self.programs = _mycel.Programs()  # for the log of compilations
        self._lock = threading.RLock()
        functools.update_wrapper(self, fn)

    def __get__(self, instance, owner):
        if instance is None:
            return self
        bound = (
            instance.__dict__.setdefault("_mycel_jit", {}) if hasattr(instance, "__dict__") else {}
        )
        if self.fn.__name__ not in bound:
            bound[self.fn.__name__] = CompiledFunction(
                self.fn.__get__(instance, owner), self.input_signature, self.hash_args
            )
        return bound[self.fn.__name__]

    @property
    def signatures(self):
        """Number of programs compiled and kept."""
        return sum(map(len, self._cache.values()))

    def _types(self, key, tensors):
        """Tensors of the types that a program for these takes; those declared with unknown dims
        have them there."""
        if self.input_signature is not None:
            declared = self._declared(tensors)
            return tensors if self._by_shape else declared
        return unknown_lengths(key, tensors)

    def _declared(self, tensors):
        """The types that the signature declares, for each tensor; checks that they fit."""
        wanted = []
        flatten(self.input_signature, wanted)
        owner, asks = getattr(self.fn, "declares", ("jit", "input_signature"))
        if len(wanted) != len(tensors):
            raise ValueError(
                f"{owner}: {asks} names {len(wanted)} tensors, {len(tensors)} were given"
            )
        for i, (want, got) in enumerate(zip(wanted, tensors)):
            fits = want.dtype == got.dtype and want.ndim == got.ndim
            if not fits or any(w not in (-1, g) for w, g in zip(want.shape, got.shape)):
                raise ValueError(
                    f"{owner}: tensor {i} is {got.dtype}{got.shape}, "
                    f"{asks} says {want.dtype}{want.shape}"
                )
        return wanted

    def _entry_for(self, args, kwargs):
        tensors = []
        key = flatten_arguments((args, kwargs), tensors)
        types = self._types(key, tensors)
        signature = self._signature(key, types)
        found = self._find(signature)
        if found is None:
            with self._lock:
                found = self._find(signature)
                if found is None:
                    found = self._make_for(signature, key, tensors, types, args, kwargs)
        return found, tensors, signature

    def _find(self, signature):
        """The program whose constants still hold, or None."""
        for found in self._cache.get(signature, ()):
            if found["compiled"].fits and not found["guards"].changed():
                return found
        return None

    def _make_for(self, signature, key, tensors, types, args, kwargs):
        """A program; one for these very shapes where it cannot be compiled for unknown dims."""
        try:
            return self._make(signature, key, tensors, types, args, kwargs)
        except Exception:
            if types is tensors or self.input_signature is None:
                raise
            signature = self._signature(key, tensors)
            found = self._make(signature, key, tensors, tensors, args, kwargs)
            self._by_shape = True
            return found

    def _signature(self, key, types):
        return (
            _hashable(key),
            tuple(map(_constant_key, types)),
            _hashable((None, self.hash_args)),
        )

    def _make(self, signature, key, tensors, types, args, kwargs):
        forms = self._cache.get(signature, [])
        logged = _mycel.log_enabled("compile")
        reason = reason_outside(forms) if logged else ""
        inputs, more, constant, found = (), (), False, None
        if forms:
            # What has changed outside once may change again: it becomes an input.
            guards, constant = forms[-1]["guards"], forms[-1]["constant"]
            inputs = tuple(guards.inputs.values())
            if not constant:
                more = tuple(p for p in guards.changed() if guards.could_be_input(p))
        if more:
            try:
                found = self._trace(key, tensors, types, (*inputs, *more))
            except Exception:  # noqa: BLE001  its value is needed while compiling
                pass
            if found and _result_types(found) == _result_types(forms[-1]):
                forms.pop()
            else:
                constant, found = True, None
        found = found or self._trace(key, tensors, types, inputs)
        found["constant"] = constant
        if logged:
            name = getattr(self.fn, "__qualname__", "main")
            parts = parts_of(self.fn, args, kwargs, self.hash_args)
            self.programs.add(found["compiled"], name, parts, reason)
        # Keeps what the signature knows by identity alive.
        found["keep"] = (args, kwargs)
        while len(self._cache) >= _CACHE_LIMIT and signature not in self._cache:
            del self._cache[next(iter(self._cache))]
        self._cache[signature] = [*forms[1 - _FORMS_LIMIT :], found]
        return found

    def _trace(self, key, tensors, types, inputs):
        guards = Guards(inputs)
        found = {"guards": guards}
        variable = [w for t, w in zip(tensors, types) if not t.const_arg]

        def flat(watched):
            guards.bind(watched[len(variable) :])
            for t in tensors:
                if t.const_arg:
                    guards.read(Given(t), t)
            source, given = iter(watched), []
            for t in tensors:
                given.append(t if t.const_arg else next(source))
            args, kwargs = unflatten(key, iter(given))
            found["program"], out = compile_function(self.fn, args, kwargs, given, guards)
            return out

        parameters = _parameters_of(self.fn)
        found["compiled"] = _mycel.trace(
            flat,
            [*variable, *guards.values()],
            parameters,
            getattr(self.fn, "__name__", "main"),
        )
        _save_graph(found["compiled"], getattr(self.fn, "__qualname__", "main"))
        return found

    @entry
    def __call__(self, *args, **kwargs):
        if here() is not None:
            return wrap(self.fn)(*args, **kwargs)
        return self._run(args, kwargs)[0]

    def _run(self, args, kwargs):
        """The result; the compiled form, None when it serves only once; and what makes a result
        out of the tensors that it gives."""
        found, tensors, signature = self._entry_for(args, kwargs)
        compiled, program, guards = found["compiled"], found["program"], found["guards"]
        if not compiled.reusable:
            # It reads a tensor of a transform around it, which is another one next time.
            self._cache.pop(signature, None)
        variable = [t for t in tensors if not t.const_arg]
        out = compiled([*variable, *guards.values()])
        result = program.finish(out, tensors, (args, kwargs))
        alone = compiled.reusable and program.alone and not guards.inputs
        return result, compiled if alone else None, program.finish

    @property
    def latest(self):
        """The program that was compiled last, or None."""
        forms = next(reversed(self._cache.values()), None)
        return forms[-1]["compiled"] if forms else None

    @entry
    def graph(self, *args, **kwargs):
        """The graph for these arguments as text."""
        return self._entry_for(args, kwargs)[0]["compiled"].graph

    def __repr__(self):
        return f"<jit {getattr(self.fn, '__qualname__', self.fn)}>"


def _parameters_of(fn):
    """Parameters of the network that a bound method belongs to: C++ layers read them unseen."""
    owner = getattr(fn, "__self__", fn)
    get = getattr(owner, "get_parameters", None)
    return list(get()) if callable(get) else []


def _result_types(found):
    return found["compiled"].result_types[: found["program"].results]


_graph_count = 0


def _save_graph(compiled, name):
    """Writes the graph where set_context(save_graphs=True) asks for it."""
    from mycel import context

    if not context.get_context("save_graphs"):
        return
    global _graph_count
    folder = context.get_context("save_graphs_path")
    os.makedirs(folder, exist_ok=True)
    safe = "".join(c if c.isalnum() else "_" for c in name)
    with open(os.path.join(folder, f"{_graph_count:04d}_{safe}.ir"), "w") as f:
        f.write(compiled.graph)
    _graph_count += 1


@entry
def jit(fn=None, input_signature=None, hash_args=None, jit_config=None):
    """Compiles a function of tensors: `@jit` or `jit(f)`.

    input_signature: tensors without values (Tensor(shape=…, dtype=…)) that the arguments must
    match. hash_args: further values that select the compiled code, as a value or a tuple.
    """
    if jit_config is not None:
        raise NotImplementedError("jit: jit_config belongs to other back ends; leave it out")

    def decorate(f):
        if not callable(f):
            raise TypeError(f"jit: a function was expected, got {type(f).__name__}")
        return CompiledFunction(f, input_signature, hash_args)

    return decorate if fn is None else decorate(fn)


ms_function = jit


class _CellGraphExecutor:
    """Compiles and runs cells by name of phase, as published test code asks."""

    def __init__(self):
        self._cells = {}

    def compile(self, obj, *args, phase="predict", do_convert=True, auto_parallel_mode=False):
        """Compiles a cell or function for these arguments: (phase, whether it was new)."""
        if auto_parallel_mode or not do_convert:
            raise NotImplementedError(
                "compile: auto_parallel_mode=True and do_convert=False belong to other back ends"
            )
        form = obj if isinstance(obj, CompiledFunction) else self._form(obj)
        before = form.signatures
        form.graph(*args)
        name = f"{phase}.{id(obj)}"
        self._cells[name] = form
        return name, form.signatures > before

    @staticmethod
    def _form(obj):
        from mycel.nn import _compile
        from mycel.nn.cell import Cell

        if isinstance(obj, Cell):
            return _compile.compiled_form(obj)
        return jit(obj)

    def __call__(self, obj, *args, phase="predict"):
        """Runs what `compile` gave as the phase."""
        if phase in self._cells:
            return self._cells[phase](*args)
        return self._form(obj)(*args)


_cell_graph_executor = _executor = _CellGraphExecutor()


def jit_class(cls):
    """Marks a class whose methods may be called from compiled functions; every class may be
    here."""
    if not isinstance(cls, type):
        raise TypeError(f"jit_class: a class was expected, got {type(cls).__name__}")
    return cls


ms_class = jit_class


__all__ = ["jit", "jit_class", "ms_class", "ms_function", "mutable"]
