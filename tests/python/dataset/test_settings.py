"""Settings of mycel.dataset.config, and processes for functions of programs."""

import json
import subprocess
import sys
import textwrap
import time

import mycel.dataset as ds
import numpy as np
import pytest

NUMBERS = ["monitor_sampling_interval", "multiprocessing_timeout_interval"]


@pytest.mark.parametrize("name", [*NUMBERS, "autotune_interval", "callback_timeout"])
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


@pytest.fixture
def config():
    """Settings as they were, afterwards."""
    before = dict(ds.config._settings)
    yield ds.config
    ds.config._settings.update(before)
    ds.config._to_readers()


def in_bursts():
    """Rows that take 2 ms each, read 30 at a time with a pause in between, in which 50 could be
    made. Gives how many rows may be ahead in the end, and the share that was waited for of the last
    half."""

    def slow(x):
        time.sleep(0.002)
        return x

    d = ds.NumpySlicesDataset(np.zeros((600, 1000), np.float32), ["x"], shuffle=False)
    it = d.map(slow, "x", num_parallel_workers=2).create_tuple_iterator(num_epochs=1)
    for n, _ in enumerate(it):
        if n % 30 == 0:
            time.sleep(0.05)
        if n == 300:
            middle = it.stats()
    end = json.loads(it.describe())["queue"]
    it.release()
    return end["ahead_at_most"], end["bytes"], (end["waits"] - middle["waits"]) / 300


def test_tuning_finds_how_many_rows_to_make_ahead(config, tmp_path):
    most, _, waited = in_bursts()
    assert most == 6 and waited > 0.2  # each burst finds the 6 rows used up
    config.set_enable_autotune(True, str(tmp_path / "found"))
    most, _, tuned = in_bursts()
    assert most >= 24 and tuned < waited / 2, (most, tuned, waited)
    found = json.loads((tmp_path / "found_0.json").read_text())
    assert found["prefetchSize"] == most and found["numParallelWorkers"] == 2
    config.set_enable_autotune(False)
    config.load(str(tmp_path / "found_0.json"))
    assert in_bursts()[0] == most and config.get_prefetch_size() == most


def test_tuning_stays_within_its_memory(config):
    config.set_enable_autotune(True)
    config.set_prefetch_memory(1)
    in_flight = []

    def big(x):
        in_flight.append(1)
        return np.zeros(75000, np.float32)  # 0.3 MB

    d = ds.NumpySlicesDataset(np.zeros(200, np.float32), ["x"], shuffle=False)
    it = d.map(big, "x", num_parallel_workers=4).create_tuple_iterator(num_epochs=1)
    given = 0
    for _ in it:
        given += 1
        time.sleep(0.002)
        if given > 8:  # the size of rows is known by then
            assert it.stats()["bytes"] <= 1 << 20
            assert len(in_flight) - given <= 4
    assert given == 200


def test_what_tuning_refuses(config, tmp_path):
    with pytest.raises(TypeError, match="'filepath_prefix' must be the begin of a file's path"):
        config.set_enable_autotune(True, 3)
    with pytest.raises(ValueError, match="nothing can be written into"):
        config.set_enable_autotune(True, str(tmp_path / "none" / "found"))
    with pytest.raises(ValueError, match="config.set_prefetch_memory"):
        config.set_prefetch_memory(0)


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
