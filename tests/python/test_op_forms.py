"""Published primitives and functions against what a peer computed (see op_form_cases.py), eagerly
and as compiled functions. Tolerance: a few float32 roundings of other summation orders, 1e-4."""

from pathlib import Path

import mycel as ms
import numpy as np
import op_form_cases as forms
import pytest

REFERENCE = np.load(Path(__file__).parent / "data" / "op_reference.npz")
NAMES = sorted({key.split("/")[0] for key in REFERENCE.files})


def flat(value):
    if isinstance(value, (tuple, list)):
        return [x for item in value for x in flat(item)]
    return [value]


@pytest.mark.parametrize("name", NAMES)
def test_form(name, mode):
    fn, *arrays = forms.CASES[name]
    places = [i for i, a in enumerate(arrays) if not isinstance(a, forms.F)]
    fixed = [ms.Tensor(a.array) if isinstance(a, forms.F) else None for a in arrays]

    def call(*given):
        operands = list(fixed)
        for place, value in zip(places, given):
            operands[place] = value
        return fn(*operands)

    got = (ms.jit(call) if mode == "graph" else call)(*(ms.Tensor(arrays[i]) for i in places))
    got = flat(got)
    want = [REFERENCE[f"{name}/{i}"] for i in range(len(got))]
    assert f"{name}/{len(got)}" not in REFERENCE.files
    for g, w in zip(got, want):
        g = g.asnumpy() if isinstance(g, ms.Tensor) else np.asarray(g)
        assert g.shape == w.shape
        assert g.dtype == w.dtype
        np.testing.assert_allclose(g, w, 1e-4, 1e-5)
