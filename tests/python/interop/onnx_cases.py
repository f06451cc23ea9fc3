"""The published backend tests of the package `onnx`, and which of them are expected to fail.

known_failures.txt: "name: reason" a line; "*" in a name stands for anything.
"""

import dataclasses
import fnmatch
import functools
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

# What Mycel has as element types; a case with another one on its border is not ordinary.
ORDINARY = set(
    "FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 BOOL FLOAT16 DOUBLE UINT32 UINT64 COMPLEX64 "
    "COMPLEX128 BFLOAT16".split()
)


@functools.cache
def cases():
    """Every node case by name; made in memory, some with NumPy's own warnings."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {case.name: case for case in load_model_tests(kind="node")}


@functools.cache
def disk_cases():
    """The published cases whose models lie in the package: whole graphs, and layers of another
    framework, by name."""
    from onnx.backend.test.loader import load_model_tests

    kinds = ("simple", "pytorch-converted", "pytorch-operator")
    return {case.name: _from_disk(case) for kind in kinds for case in load_model_tests(kind=kind)}


def _from_disk(case):
    if case.model is not None:
        return case
    folder = Path(case.model_dir)
    model = onnx.load(folder / "model.onnx")
    given = {t.name for t in model.graph.initializer}
    inputs = [v for v in model.graph.input if v.name not in given]
    sets = []
    for data in sorted(folder.glob("test_data_set_*")):
        sets.append(
            (
                [_read(data / f"input_{i}.pb", v.type) for i, v in enumerate(inputs)],
                [_read(data / f"output_{i}.pb", v.type) for i, v in enumerate(model.graph.output)],
            )
        )
    return dataclasses.replace(case, model=model, data_sets=sets)


def _read(path, type_proto):
    if type_proto.WhichOneof("value") == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(path.read_bytes()))
    return numpy_helper.to_array(TensorProto.FromString(path.read_bytes()))


def _element_types(type_proto):
    kind = type_proto.WhichOneof("value")
    if kind == "tensor_type":
        return {TensorProto.DataType.Name(type_proto.tensor_type.elem_type)}
    if kind in ("sequence_type", "optional_type"):
        return _element_types(getattr(type_proto, kind).elem_type)
    return {str(kind)}


def odd_types(case):
    """Element types of inputs and outputs that Mycel has not."""
    graph = case.model.graph
    border = [*graph.input, *graph.output]
    return set().union(*(_element_types(v.type) for v in border)) - ORDINARY


@functools.cache
def known_failures():
    """Pattern -> (reason, whether the case may pass)."""
    lines = (Path(__file__).parent / "known_failures.txt").read_text().splitlines()
    pairs = (line.split(": ", 1) for line in lines if line and not line.startswith("#"))
    return {name.rstrip("?"): (reason, name.endswith("?")) for name, reason in pairs}


def expectation(name):
    """(reason, whether the case may pass) of a listed case; None of one that must pass."""
    for pattern, entry in known_failures().items():
        if fnmatch.fnmatchcase(name, pattern):
            return entry
    return None


def _compare(want, got, rtol, atol):
    if isinstance(want, (list, tuple)):
        assert isinstance(got, list) and len(got) == len(want)
        for w, g in zip(want, got, strict=True):
            _compare(w, g, rtol, atol)
        return
    if want is None:
        assert got is None
        return
    want = np.asarray(want)
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    if want.dtype.name == "bfloat16":
        want, got = want.astype(np.float32), got.astype(np.float32)
    np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)


def _array(value):
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else value


def run(case):
    """Runs one case; AssertionError where a result differs by more than the case allows."""
    import mycel.onnx

    handle = mycel.onnx.prepare(case.model)
    for inputs, outputs in case.data_sets:
        results = handle.run([_array(x) for x in inputs])
        assert len(results) == len(outputs)
        for want, got in zip(outputs, results, strict=True):
            _compare(_array(want), got, case.rtol, case.atol)
