"""Pipelines that are interrupted, killed or left: they end, say so, and go on where they stood."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import mycel as ms
import mycel.dataset as ds
import pytest
from source_cases import CASES, digest, placed
from tiny_files import make_all

pytestmark = pytest.mark.one_mode("the pipeline has no modes")

FUNCTIONS = """
    import os, signal, sys, time
    import numpy as np
    import mycel as ms, mycel.dataset as ds, mycel.dataset.transforms as transforms

    class Source:
        def __init__(self, shape=(2,)):
            self.shape = shape
        def __getitem__(self, i):
            return np.full(self.shape, i, np.float32), np.array([os.getpid()])
        def __len__(self):
            return 60

    def slow(x, pid):
        if x.flat[0] == 3:
            time.sleep(600)
        return x, np.array([os.getpid()])

    def killed(x, pid):
        if x.flat[0] == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return x, pid

    def alive(pids):
        def runs(pid):
            try:
                with open(f"/proc/{pid}/stat") as f:
                    return f.read().rsplit(")", 1)[1].split()[0] != "Z"
            except OSError:
                return False
        return [p for p in pids if runs(p)]
"""


@pytest.fixture
def start(tmp_path):
    """Runs a program that may be imported by its worker processes."""
    running = []

    def run(program, *args):
        path = tmp_path / f"program{len(running)}.py"
        body = textwrap.indent(textwrap.dedent(program), "    ")
        path.write_text(textwrap.dedent(FUNCTIONS) + '\nif __name__ == "__main__":\n' + body)
        command = [sys.executable, str(path), *map(str, args)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        running.append(subprocess.Popen(command, **pipes))
        return running[-1]

    yield run
    for process in running:
        process.kill()
        process.wait()


def gone(pid):
    """Whether a process ends within ten seconds."""
    for _ in range(100):
        try:
            with open(f"/proc/{pid}/stat") as f:
                if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.ci
@pytest.mark.parametrize("signalled", [signal.SIGINT, signal.SIGKILL])
def test_processes_end_with_the_program(start, signalled):
    """Ctrl-C arrives while the workers are in a call that takes minutes."""
    process = start("""
        d = ds.GeneratorDataset(Source(), ["x", "pid"]).map(
            slow, ["x", "pid"], num_parallel_workers=2, python_multiprocessing=True)
        pids, n = set(), 0
        try:
            for x, pid in d.create_tuple_iterator(num_epochs=1, output_numpy=True):
                pids.add(int(pid[0]))
                n += 1
                if n == 3:
                    print(*pids, flush=True)
        except KeyboardInterrupt:
            del d
            for _ in range(100):
                if not alive(pids):
                    break
                time.sleep(0.1)
            print("interrupted", alive(pids), flush=True)
    """)
    pids = process.stdout.readline().split()
    assert pids, process.stderr.read()
    time.sleep(0.5)
    process.send_signal(signalled)
    out, err = process.communicate(timeout=30)
    if signalled == signal.SIGINT:
        assert (process.returncode, out) == (0, "interrupted []\n"), err
    assert all(gone(p) for p in pids)


@pytest.mark.ci
def test_ctrl_c_ends_threads(start):
    process = start("""
        d = ds.GeneratorDataset(Source(), ["x", "pid"], num_parallel_workers=1).repeat(100000)
        d = d.map(lambda x: (time.sleep(0.01), x)[1], "x", num_parallel_workers=3)
        try:
            for i, row in enumerate(d.create_tuple_iterator(num_epochs=1)):
                if i == 5:
                    print("reading", flush=True)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """)
    assert process.stdout.readline() == "reading\n", process.stderr.read()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "interrupted\n"), err


@pytest.mark.ci
def test_ctrl_c_without_a_handler_ends_the_program(start):
    process = start("""
        d = ds.GeneratorDataset(Source(), ["x", "pid"]).map(
            slow, ["x", "pid"], num_parallel_workers=2, python_multiprocessing=True)
        for i, row in enumerate(d.create_tuple_iterator(num_epochs=1)):
            print("reading", flush=True)
    """)
    for _ in range(3):
        assert process.stdout.readline() == "reading\n", process.stderr.read()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT and "KeyboardInterrupt" in err


@pytest.mark.ci
def test_a_killed_worker_is_an_error_and_new_ones_can_be_had(start):
    process = start("""
        source = ds.GeneratorDataset(Source(), ["x", "pid"])
        for workers in (2, 3):
            d = source.map(killed, ["x", "pid"], num_parallel_workers=workers,
                           python_multiprocessing=True)
            rows = []
            try:
                for x, pid in d.create_tuple_iterator(num_epochs=1, output_numpy=True):
                    rows.append(int(x[0]))
            except RuntimeError as e:
                print(rows, e)
    """)
    out, err = process.communicate(timeout=60)
    lines = out.splitlines()
    assert len(lines) == 2, err
    for line in lines:
        assert line.startswith("[0, 1, 2, 3, 4]"), line
        assert "a worker process died" in line


@pytest.mark.ci
def test_a_consumer_that_stops_early_leaves_no_process(start):
    process = start("""
        d = ds.GeneratorDataset(Source((300, 300)), ["x", "pid"], num_parallel_workers=2)
        it = d.create_tuple_iterator(num_epochs=1, output_numpy=True)
        pids = {int(next(it)[1][0]) for _ in range(20)}
        it.release()
        del it, d
        end = time.time() + 10
        while alive(pids) and time.time() < end:
            time.sleep(0.05)
        print(alive(pids), os.getpid() in pids)
        d = ds.GeneratorDataset(Source((300, 300)), ["x", "pid"], num_parallel_workers=2)
        it = d.create_tuple_iterator(num_epochs=1, output_numpy=True)
        next(it)  # the program ends with an iterator in the middle
    """)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "[] False\n"), err


@pytest.mark.ci
def test_arrays_through_shared_memory(start):
    """Of every kind and size, in several columns, kept by the function and by the reader; blocks
    are used again."""
    process = start("""
        from test_arrays import Columns, changed
        d = ds.GeneratorDataset(Columns(), ["a", "b", "c", "d", "e"], num_parallel_workers=2,
                                shuffle=False)
        d = d.map(changed, ["a", "b"], num_parallel_workers=2, python_multiprocessing=True)
        files = []
        for epoch in range(4):
            rows = list(d.create_tuple_iterator(num_epochs=1, output_numpy=True))
            for i, (a, b, c, e, f) in enumerate(rows):
                want = Columns()[i]
                assert (a == want[0] + 1).all() and a.dtype == want[0].dtype, i
                assert a.shape == want[0].shape and b.dtype == want[1].dtype
                assert (b == want[1][::-1]).all() and (c == want[2]).all()
                assert e.shape == want[3].shape and str(f) == want[4]
            files.append(len(os.listdir("/proc/self/fd")))
        print("equal", files[-1] <= files[0] + 2)
    """)
    path = os.path.join(os.path.dirname(process.args[1]), "test_arrays.py")
    with open(path, "w") as f:
        f.write(
            textwrap.dedent("""
            import numpy as np

            class Columns:
                def __len__(self):
                    return 24
                def __getitem__(self, i):
                    r = np.random.RandomState(i)
                    return (
                        r.randint(0, 200, (i * 40 + 1, 300, 3)).astype(np.uint8),
                        r.rand(1 + 5000 * (i % 3), 2).T.astype(("f8", "f4", "f2")[i % 3]),
                        np.float32(i), np.zeros((0, 3)), "text " * i,
                    )

            last = []

            def changed(a, b):
                for before, copy in last:  # what a function keeps is not written over
                    assert (before == copy).all()
                last[:] = [(a, a.copy())]
                return a + 1, b[::-1]
        """)
        )
    out, err = process.communicate(timeout=120)
    assert out == "equal True\n", err


# -- going on ------------------------------------------------------------------


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    make_all(folder)
    return folder


@pytest.mark.parametrize(("name", "cls", "args"), CASES, ids=[c[0] for c in CASES])
def test_every_source_goes_on_in_the_middle(root, name, cls, args):
    def made(state=None):
        d = getattr(ds, cls)(**placed(args, root), shuffle=True).map(lambda *v: v)
        if state:
            d.load_state_dict(state)
        return d, d.create_dict_iterator(num_epochs=-1, output_numpy=True)

    seed = ms.get_seed()
    ms.set_seed(3)
    try:
        d, it = made()
        size = d.get_dataset_size()
        whole, states = [], []
        for _ in range(2):
            for row in it:
                whole.append({k: digest(v) for k, v in row.items()})
                states.append(it.state_dict())
        assert len(whole) == 2 * size
        for cut in sorted({1, size // 2 + 1, size, size + 1, 2 * size - 1}):
            _, other = made(states[cut - 1])
            rest = []
            while len(rest) < 2 * size - cut:
                rest += [{k: digest(v) for k, v in row.items()} for row in other]
            assert rest[: 2 * size - cut] == whole[cut:], cut
    finally:
        if seed is not None:
            ms.set_seed(seed)


KILLED = """
    kind, begin, stop = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    ms.set_seed(5)
    source = Source((200, 100))
    if kind == "processes":
        d = ds.GeneratorDataset(source, ["x", "pid"], num_parallel_workers=2, shuffle=True)
    elif kind == "stream":
        d = ds.GeneratorDataset(lambda: map(source.__getitem__, range(60)), ["x", "pid"]).shuffle(7)
    elif kind == "filter":
        d = ds.GeneratorDataset(source, ["x", "pid"], shuffle=True)
        d = d.filter(lambda x: x.flat[0] % 3 != 1, "x")
    elif kind == "cache":
        d = ds.GeneratorDataset(source, ["x", "pid"]).map(
            transforms.TypeCast(ms.float64), "x", cache=ds.DatasetCache(1)).shuffle(60)
    d = d.project("x").map(lambda x: x[0, :1] + np.random.rand() * 0, "x", num_parallel_workers=2)
    d = d.batch(4)
    size = d.get_dataset_size() if kind != "filter" else 10
    if begin:
        d.load_state_dict({"epoch": begin // size, "position": begin % size, "seed": 5})
    it, n = d.create_tuple_iterator(num_epochs=-1, output_numpy=True), begin
    while True:
        for row in it:
            print(row[0].ravel().tolist(), flush=True)
            n += 1
            if n == stop:
                os.kill(os.getpid(), 9)
"""


@pytest.mark.ci
@pytest.mark.parametrize("kind", ["processes", "stream", "filter", "cache"])
def test_a_killed_program_goes_on(start, kind):
    def lines(begin, stop):
        out, err = start(KILLED, kind, begin, stop).communicate(timeout=60)
        assert out, err
        return out.splitlines()

    whole = lines(0, 35)
    assert len(whole) == 35 and len(set(whole)) > 15
    for cut in (4, 20):
        assert lines(0, cut) + lines(cut, 35) == whole
