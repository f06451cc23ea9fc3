"""The published ONNX cases through the converter and the Lite runtime: what converts gives the
published numbers; what does not is refused by name. Shapes that depend on values, sequences and
random numbers have no plan."""

import numpy as np
import pytest

pytestmark = [pytest.mark.ci, pytest.mark.one_mode("a .lite file runs without Python")]

# A case passes, or the converter refuses it with one of these.
REFUSED = (NotImplementedError, ValueError, TypeError)


def outcome(case, folder):
    """ "passed", "refused: why", or "wrong: why"."""
    import onnx
    import onnx_cases
    from mycel import lite

    arrays = [[onnx_cases._array(x) for x in ins] for ins, _ in case.data_sets]
    if any(isinstance(x, list) or x is None for ins in arrays for x in ins):
        return "refused: an input that is no tensor"
    onnx.save(case.model, folder / "case.onnx")
    try:
        lite.Converter().convert(folder / "case.onnx", folder / "case.lite")
        model = lite.Model().build_from_file(folder / "case.lite")
        results = [model.predict(ins) for ins in arrays]
    except REFUSED as e:
        return f"refused: {type(e).__name__}: {str(e).strip().splitlines()[0]}"
    for got, (_, want) in zip(results, case.data_sets, strict=True):
        try:
            assert len(got) == len(want)
            for g, w in zip(got, want, strict=True):
                want, data = onnx_cases._array(w), g.get_data_to_numpy()
                if getattr(want, "dtype", None) is not None and want.dtype.name == "bfloat16":
                    want = want.astype(np.float32)  # NumPy has no such dtype: they come widened
                onnx_cases._compare(want, data, case.rtol, case.atol)
        except AssertionError as e:
            return f"wrong: {str(e).strip()[:200]}"
    return "passed"


def outcomes(folder):
    import onnx_cases

    return {
        name: outcome(case, folder)
        for name, case in onnx_cases.cases().items()
        if not onnx_cases.odd_types(case) and not onnx_cases.expectation(name)
    }


def test_published_cases(tmp_path):
    found = outcomes(tmp_path)
    wrong = [f"{n}: {o}" for n, o in found.items() if o.startswith("wrong")]
    assert not wrong, f"{len(wrong)} cases:\n" + "\n".join(wrong[:40])
    passed = sum(o == "passed" for o in found.values())
    assert passed >= 0.6 * len(found), f"{passed} of {len(found)} run"
