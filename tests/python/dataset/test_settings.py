"""Settings of mycel.dataset.config, and processes for functions of programs."""

import subprocess
import sys
import textwrap

import mycel.dataset as ds
import pytest

NUMBERS = ["callback_timeout", "monitor_sampling_interval", "multiprocessing_timeout_interval"]


@pytest.mark.parametrize("name", [*NUMBERS, "autotune_interval"])
def test_numbers_are_kept_and_checked(name):
    set_it, get_it = getattr(ds.config, f"set_{name}"), getattr(ds.config, f"get_{name}")
    before = get_it()
    try:
        set_it(7)
        assert get_it() == 7
        with pytest.raises(TypeError, match=f"config.set_{name}"):
            set_it("7")
        with pytest.raises(ValueError, match="below 2..31"):
            set_it(2**31)
    finally:
        set_it(before)
    assert set_it.__doc__ and set_it.__name__ == f"set_{name}"


@pytest.mark.parametrize("name", ["enable_shared_mem", "enable_watchdog"])
def test_switches_are_kept_and_say_that_they_do_nothing(name):
    set_it, get_it = getattr(ds.config, f"set_{name}"), getattr(ds.config, f"get_{name}")
    before = get_it()
    set_it(not before)
    assert get_it() is not before
    set_it(before)
    assert set_it.__doc__.startswith("Without effect")
    with pytest.raises(TypeError):
        set_it(1)


PROGRAM = """
    import time
    import numpy as np
    import mycel.dataset as ds

    def slow(x):
        time.sleep(1.4)
        return x + 1

    ds.config.set_multiprocessing_timeout_interval(1)
    if __name__ == "__main__":
        d = ds.NumpySlicesDataset(np.arange(2)).map(
            slow, num_parallel_workers=2, python_multiprocessing=True)
        print([int(x) for (x,) in d.create_tuple_iterator(num_epochs=1, output_numpy=True)])
"""


def run(arguments):
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "[1, 2]", done.stdout + done.stderr
    return done.stderr


def test_a_worker_that_hangs_is_named(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))
    assert "a worker process has given nothing for 1 seconds" in run([str(program)])


def test_a_program_without_a_file_runs_its_functions_on_threads():
    # Processes could not import it.
    assert "worker process" not in run(["-c", textwrap.dedent(PROGRAM)])
