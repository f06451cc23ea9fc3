"""Every test runs eagerly and in graph mode; there a test's own calls of ops are compiled too (see
compiled_calls.py). `pytestmark = pytest.mark.one_mode("why")` is for what does not depend on the
mode, `pytest.mark.plain_calls("why")` for what looks at how a call was written."""

import compiled_calls
import mycel as ms
import pytest

_forms = {}  # module -> its names, ops compiled


def pytest_generate_tests(metafunc):
    definition = metafunc.definition
    own = any("mode" in m.args[0] for m in definition.iter_markers("parametrize"))
    if definition.get_closest_marker("one_mode") is None and not own:
        metafunc.parametrize("mode", ["eager", "graph"], indirect=True)


@pytest.fixture(autouse=True)
def mode(request):
    """The name of the mode that the test runs in; None where that does not matter."""
    name = getattr(request, "param", None)
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE if name == "graph" else ms.PYNATIVE_MODE)
    yield name
    ms.set_context(mode=before)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if pyfuncitem.funcargs.get("mode") != "graph" or pyfuncitem.get_closest_marker("plain_calls"):
        return
    module = pyfuncitem.module
    if module not in _forms:
        _forms[module] = compiled_calls.second_form(module)
    pyfuncitem.obj = _forms[module][pyfuncitem.originalname]
