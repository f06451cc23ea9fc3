"""Operators, iterators and samplers of mycel.dataset, against what their definitions say."""

import json
import os
import subprocess
import sys
import textwrap
import threading
import time

import mycel as ms
import numpy as np
import pytest
from mycel import nn
from mycel.dataset import (
    DatasetCache,
    DistributedSampler,
    DSCallback,
    GeneratorDataset,
    NumpySlicesDataset,
    PaddedDataset,
    PKSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetSampler,
    WeightedRandomSampler,
    config,
    transforms,
    zip,
)

pytestmark = pytest.mark.one_mode("rows are made before any network sees them")


def numbers(n, **options):
    return NumpySlicesDataset({"x": np.arange(n)}, **options)


def values(dataset, column=0, epochs=1):
    """The values of a column, one list an epoch."""
    it = dataset.create_tuple_iterator(num_epochs=epochs, output_numpy=True)
    out = [[row[column].tolist() for row in it] for _ in range(epochs)]
    return out[0] if epochs == 1 else out


class Ragged:
    """Row i holds i + 1 times the number i."""

    def __getitem__(self, i):
        return np.full(i + 1, i), f"row {i}"

    def __len__(self):
        return 6


def ragged(**options):
    return GeneratorDataset(Ragged(), ["x", "name"], **options)


# -- batches -------------------------------------------------------------------


def test_batch_of_a_function_and_in_other_columns():
    sizes = []

    def size(info):
        sizes.append((info.get_epoch_num(), info.get_batch_num()))
        return info.get_batch_num() + 1

    assert values(numbers(6).batch(size)) == [[0], [1, 2], [3, 4, 5]]
    assert sizes == [(0, 0), (0, 1), (0, 2), (0, 3)]

    def double(x, info):
        return [a * 2 for a in x], [np.int64(info.get_batch_num())] * len(x)

    d = numbers(5).batch(2, per_batch_map=double, input_columns="x", output_columns=["y", "n"])
    assert d.get_col_names() == ["y", "n"]
    assert values(d) == [[0, 2], [4, 6], [8]]
    assert values(d, 1) == [[0, 0], [1, 1], [2]]


def test_padding():
    d = ragged().batch(3, pad_info={"x": ([4], -1)}, drop_remainder=True)
    with pytest.raises(ValueError, match="cannot be padded to"):
        values(d)
    d = ragged().batch(3, pad_info={"x": ([None], -1)})
    assert values(d)[0] == [[0, -1, -1], [1, 1, -1], [2, 2, 2]]
    assert values(d, 1)[1] == ["row 3", "row 4", "row 5"]
    assert values(ragged().padded_batch(6)) == values(ragged().batch(6, pad_info={}))
    with pytest.raises(ValueError, match="column 'x' has rows .* they must be alike"):
        values(ragged().batch(2))
    with pytest.raises(KeyError, match="to pad; columns: x, name"):
        ragged().batch(2, pad_info={"y": ([3], 0)})


def test_buckets():
    d = ragged().project("x").bucket_batch_by_length("x", [3, 5], [2, 2, 1], pad_info={})
    assert [np.shape(b) for b in values(d)] == [(2, 2), (2, 4), (1, 5), (1, 6)]
    d = ragged().bucket_batch_by_length(
        ["x"], [4], [10, 10], lambda x: len(x), {"x": ([None], 9)}, False
    )
    assert [np.shape(b) for b in values(d)] == [(3, 3), (3, 6)]
    with pytest.raises(ValueError, match="2 boundaries make 3 buckets, got 2"):
        ragged().bucket_batch_by_length("x", [3, 5], [2, 2])


# -- rows ----------------------------------------------------------------------


def test_rows_are_the_same_for_any_number_of_workers():
    def made(workers):
        ms.set_seed(4)
        d = numbers(64, shuffle=True).map(lambda x: x * 2, "x", num_parallel_workers=workers)
        return values(d.batch(5), epochs=3)

    one = made(1)
    assert one == made(2) == made(5)
    assert one[0] != one[1]
    assert sorted(sum(one[0], [])) == list(range(0, 128, 2))


def test_seed_orders_rows():
    def order(seed):
        ms.set_seed(seed)
        return values(numbers(30).shuffle(30))

    assert order(1) == order(1) != order(2)


def test_repeat_without_end_take_skip_split():
    assert values(numbers(3).repeat(-1).take(8)) == [0, 1, 2, 0, 1, 2, 0, 1]
    assert values(numbers(9).skip(2).take(3)) == [2, 3, 4]
    a, b = numbers(10).split([0.7, 0.3], randomize=False)
    assert values(a) + values(b) == list(range(10)) and len(b) == 3
    a, b = numbers(10).split([4, 6])
    assert sorted(values(a) + values(b)) == list(range(10))
    assert values(a) == values(a)
    with pytest.raises(ValueError, match="sum up to 9, there are 10"):
        numbers(10).split([4, 5])
    with pytest.raises(RuntimeError, match="without end"):
        len(numbers(3).repeat())


def test_filter_zip_concat_flat_map_rename():
    assert values(numbers(9).filter(lambda x: x % 3 == 0, num_parallel_workers=2)) == [0, 3, 6]
    both = zip((numbers(4), numbers(6).rename("x", "y")))
    assert both.get_col_names() == ["x", "y"] and len(both) == 4
    assert values(numbers(2) + numbers(3)) == [0, 1, 0, 1, 2]
    assert values(numbers(4).flat_map(lambda x: numbers(int(x) + 1))) == [
        0,
        0,
        1,
        0,
        1,
        2,
        0,
        1,
        2,
        3,
    ]
    assert values(numbers(2) + PaddedDataset([{"x": np.array(7)}])) == [0, 1, 7]
    with pytest.raises(ValueError, match="two columns would be named 'x'"):
        zip((numbers(4), numbers(6)))


def test_strings_and_columns():
    d = ragged().map(lambda n: n.item().upper(), "name").project(["name"])
    assert values(d)[:2] == ["ROW 0", "ROW 1"]
    assert [r["name"].dtype.kind for r in ragged().create_dict_iterator()] == ["U"] * 6
    d = numbers(3).map(lambda x: (x, x + 1), "x", ["a", "b"], column_order=["b", "a"])
    assert d.get_col_names() == ["b", "a"] and values(d) == [1, 2, 3]
    with pytest.raises(ValueError, match="gave 2 values for 1 columns"):
        values(numbers(3).map(lambda x: (x, x), "x"))
    with pytest.raises(TypeError, match="column 'name' holds strings"):
        net = nn.Dense(1, 1)
        ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params())).train(1, ragged().batch(1))


def test_samplers():
    assert values(numbers(9, sampler=SequentialSampler(3, 2))) == [3, 4]
    assert values(numbers(9, sampler=[1, -1])) == [1, 8]
    assert values(numbers(7, sampler=DistributedSampler(3, 1, shuffle=False))) == [1, 4, 0]
    first = SubsetSampler([0, 2])
    first.add_child(SequentialSampler(2))
    assert values(numbers(9, sampler=first)) == [2, 4]
    labels = NumpySlicesDataset(
        {"x": np.arange(6), "label": [0, 1, 0, 1, 2, 0]}, sampler=PKSampler(2)
    )
    assert values(labels) == [0, 2, 1, 3, 4, 4]
    drawn = values(numbers(3, sampler=WeightedRandomSampler([1, 0, 1], 50)))
    assert set(drawn) == {0, 2} and len(drawn) == 50
    once, again = values(numbers(20, sampler=RandomSampler()), epochs=2)
    assert sorted(once) == sorted(again) == list(range(20)) and once != again

    class Backwards(Sampler):
        asked = 0

        def __iter__(self):
            self.asked += 1
            return iter(range(3, -1, -1))

    sampler = Backwards()
    assert values(numbers(4, sampler=sampler), epochs=2) == [[3, 2, 1, 0]] * 2
    assert sampler.asked == 2
    with pytest.raises(ValueError, match="leave 'shuffle' out"):
        numbers(3, sampler=RandomSampler(), shuffle=True)
    with pytest.raises(ValueError, match="belong together"):
        numbers(3, num_shards=2)
    with pytest.raises(ValueError, match="index 9 is not in a dataset of 3 rows"):
        numbers(3, sampler=SubsetSampler([9]))


def test_shards_cover_all_rows():
    ms.set_seed(3)
    shards = [values(numbers(12, shuffle=True, num_shards=3, shard_id=i)) for i in range(3)]
    assert sorted(sum(shards, [])) == list(range(12))


# -- sources in Python ---------------------------------------------------------


def test_errors_of_a_source_arrive_with_their_traceback():
    class Broken(Ragged):
        def __getitem__(self, i):
            if i == 2:
                raise KeyError("lost in the user's code")
            return np.array(i), "x"

    for workers in (1, 3):
        d = GeneratorDataset(Broken(), ["x", "n"], num_parallel_workers=workers, shuffle=False)
        it = d.create_tuple_iterator(num_epochs=1, output_numpy=True)
        assert [next(it)[0].item(), next(it)[0].item()] == [0, 1]
        with pytest.raises(KeyError, match="lost in the user's code") as info:
            next(it)
        assert any(e.name == "__getitem__" for e in info.traceback)
        assert [r[0].item() for r in it] == [3, 4, 5]  # reading goes on
    kept = GeneratorDataset(Broken(), ["x", "n"]).skip_errors()
    assert values(kept) == [0, 1, 3, 4, 5] and kept.skipped_rows() == 1


def test_a_generator_is_asked_once_an_epoch():
    asked = []

    def rows():
        asked.append(threading.get_ident())
        for i in range(3):
            yield (np.array(i),)

    d = GeneratorDataset(rows, ["x"])
    assert values(d, epochs=2) == [[0, 1, 2], [0, 1, 2]] and len(asked) == 2
    assert len(d) == 3
    with pytest.raises(TypeError, match="gives its rows only once"):
        GeneratorDataset(rows(), ["x"])


def test_column_types():
    d = GeneratorDataset(Ragged(), ["x", "n"], column_types=[ms.float32, None])
    assert d.output_types()[0] is np.float32
    assert d.output_shapes() == [[1], []]
    assert d.project("x").output_shapes(estimate=True) == [[None]]


def test_an_iterator_that_is_left_ends_its_threads():
    before = threading.active_count()
    for _ in range(20):
        it = iter(numbers(1000).map(lambda x: x, "x", num_parallel_workers=4))
        next(it)
        del it
    assert threading.active_count() == before


def run(program, *args, **env):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *args],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **env},
    )


def test_python_ends_while_rows_are_made():
    done = run("""
        import numpy as np, mycel.dataset as ds
        d = ds.NumpySlicesDataset(np.arange(100000)).map(lambda x: x, num_parallel_workers=3)
        it = d.create_tuple_iterator()
        next(it)
        print("last line")
    """)
    assert done.returncode == 0 and done.stdout == "last line\n", done.stderr


def test_a_forked_process_is_told_not_to_go_on():
    done = run("""
        import os, numpy as np, mycel.dataset as ds
        d = ds.NumpySlicesDataset(np.arange(1000)).map(lambda x: x, num_parallel_workers=2)
        it = d.create_tuple_iterator()
        next(it)
        pid = os.fork()
        if pid == 0:
            try:
                next(it)
            except RuntimeError as e:
                print(e, flush=True)
            os._exit(0)
        os.waitpid(pid, 0)
    """)
    assert "Make the iterator in that process" in done.stdout, done.stderr


def test_processes(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
        import os
        import numpy as np
        import mycel.dataset as ds

        class Source:
            def __getitem__(self, i):
                if i == 9:
                    raise ZeroDivisionError("row nine")
                return np.array([i, os.getpid()])
            def __len__(self):
                return 10

        def square(x):
            return np.array([x[0] ** 2, os.getpid()])

        def die(x):
            os._exit(3)

        if __name__ == "__main__":
            d = ds.GeneratorDataset(Source(), ["x"], num_parallel_workers=2, shuffle=False)
            rows = [r[0] for r in d.take(9).create_tuple_iterator(num_epochs=1, output_numpy=True)]
            print([int(r[0]) for r in rows], os.getpid() in {int(r[1]) for r in rows})
            try:
                list(d.skip(9))
            except ZeroDivisionError as e:
                print(e, "__getitem__" in str(e.__cause__))
            m = ds.NumpySlicesDataset(np.arange(8).reshape(4, 2)).map(
                square, num_parallel_workers=2, python_multiprocessing=True)
            rows = [r[0] for r in m.create_tuple_iterator(num_epochs=1, output_numpy=True)]
            print([int(r[0]) for r in rows], os.getpid() in {int(r[1]) for r in rows})
            dead = ds.NumpySlicesDataset(np.arange(8)).map(
                die, num_parallel_workers=2, python_multiprocessing=True)
            try:
                list(dead)
            except RuntimeError as e:
                print(e)
        """)
    )
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=120
    )
    lines = done.stdout.splitlines()
    assert lines[:3] == [
        "[0, 1, 2, 3, 4, 5, 6, 7, 8] False",
        "row nine True",
        "[0, 4, 16, 36] False",
    ], done.stdout + done.stderr
    assert "a worker process died" in lines[3]


# -- state ---------------------------------------------------------------------

RUN = """
    import os, sys
    import numpy as np, mycel as ms, mycel.dataset as ds
    ms.set_seed(8)
    d = ds.NumpySlicesDataset(np.arange(40), shuffle=True)
    d = d.map(lambda x: x + 1, num_parallel_workers=2).batch(4)
    start, stop = int(sys.argv[1]), int(sys.argv[2])
    if start:
        d.load_state_dict({"epoch": start // 10, "position": start % 10, "seed": 8})
    it, n = d.create_tuple_iterator(num_epochs=-1, output_numpy=True), start
    while True:
        for row in it:
            print(row[0].tolist(), flush=True)
            n += 1
            if n == stop:
                assert it.state_dict() == {"epoch": (n - 1) // 10, "position": (n - 1) % 10 + 1,
                                           "seed": 8}
                os.kill(os.getpid(), 9)
"""


def test_a_killed_run_goes_on_with_the_same_rows():
    whole = run(RUN, "0", "25").stdout.splitlines()
    assert len(whole) == 25 and len(set(whole)) == 25
    for cut in (3, 10, 17):
        first, second = run(RUN, "0", str(cut)), run(RUN, str(cut), "25")
        assert (first.stdout + second.stdout).splitlines() == whole, second.stderr


def test_state_of_another_seed_is_refused():
    ms.set_seed(1)
    state = numbers(5).state_dict()
    ms.set_seed(2)
    with pytest.raises(ValueError, match="saved with seed 1"):
        numbers(5).load_state_dict(state)


# -- the rest ------------------------------------------------------------------


def test_cache():
    made = []

    def slow(x):
        made.append(int(x))
        return x

    for spilling in (False, True):
        made.clear()
        d = numbers(10).map(slow, "x", cache=DatasetCache(1, spilling=spilling)).shuffle(10)
        a, b = values(d, epochs=2)
        assert sorted(made) == list(range(10)) and sorted(a) == sorted(b) and a != b
    with pytest.raises(NotImplementedError, match="hostname"):
        DatasetCache(1, hostname="there")


def test_callbacks_in_iterators_and_in_training():
    class Seen(DSCallback):
        def __init__(self):
            super().__init__(step_size=2)
            self.calls = []

        def ds_begin(self, c):
            self.calls.append("begin")

        def ds_epoch_begin(self, c):
            self.calls.append(("epoch", c.cur_epoch_num))

        def ds_step_end(self, c):
            self.calls.append(("step", c.cur_step_num, c.cur_step_num_in_epoch))

        def ds_epoch_end(self, c):
            self.calls.append("end")

    want = ["begin", ("epoch", 1), ("step", 1, 1), ("step", 3, 3), "end"]
    want += [("epoch", 2), ("step", 4, 1), ("step", 6, 3), "end"]
    seen = Seen()
    d = NumpySlicesDataset((np.ones((3, 2), np.float32), np.ones((3, 1), np.float32)))
    values(d.map(lambda x: x, "column_0", callbacks=seen), epochs=2)
    assert seen.calls == want
    for sink in (False, True):
        seen, net = Seen(), nn.Dense(2, 1)
        model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params()))
        batches = d.map(lambda x: x, "column_0", callbacks=[seen]).batch(1)
        model.train(2, batches, dataset_sink_mode=sink)
        assert seen.calls == want


def test_describe_and_stats():
    d = numbers(40).map(transforms.TypeCast(ms.float32), "x", num_parallel_workers=2).batch(4)
    it = d.create_tuple_iterator(num_epochs=1)
    assert len(list(it)) == 10
    text = d.describe().splitlines()
    assert text[0].startswith("batch(4): 10 rows an epoch; 10 made")
    assert "TypeCast(data_type='float32')" in text[1] and "40 made" in text[1]


def test_graph_for_a_dashboard():
    d = numbers(40).map(transforms.TypeCast(ms.float32), "x", num_parallel_workers=2)
    d = zip((d, numbers(40).rename("x", "y"))).batch(4)
    it = d.create_tuple_iterator(num_epochs=2)
    for _ in range(3):
        next(it)
    seen = json.loads(it.describe())
    top = seen["pipeline"]
    assert (top["text"], top["rows"], top["columns"]) == ("batch(4)", 10, ["x", "y"])
    assert 3 <= top["made"] <= 10 and top["seconds"] >= top["own_seconds"] > 0
    assert top["rows_a_second"] == pytest.approx(top["made"] / top["seconds"])
    (pairs,) = top["inputs"]
    cast, names = pairs["inputs"]
    assert "TypeCast" in cast["text"] and len(names["inputs"]) == 1
    assert seen["position"] == {"epoch": 0, "row": 3}
    queue = seen["queue"]
    assert queue["workers"] >= 1 and queue["rows"] == 3
    assert 0 <= queue["ahead"] <= queue["ahead_at_most"] == 2 * 2 + 2
    assert queue["fill"] == queue["ahead"] / queue["ahead_at_most"]
    it.release()
    with pytest.raises(RuntimeError, match="closed"):
        it.describe()
    assert json.loads(d.describe("json"))["pipeline"]["made"] >= 3
    with pytest.raises(ValueError, match="'json'"):
        d.describe("xml")


def test_progress_of_an_index(tmp_path):
    file = tmp_path / "long.csv"
    file.write_text("a,b\n" + "1,2\n" * 6_000_000)
    size, calls = file.stat().st_size, []

    def opened(function):
        ms.dataset.on_index_progress(function)
        try:
            return len(ms.dataset.CSVDataset(str(file), shuffle=False))
        finally:
            ms.dataset.on_index_progress(None)

    def stop(*_):
        raise InterruptedError("enough")

    start = time.perf_counter()
    assert opened(lambda *call: calls.append(call)) == 6_000_000
    if time.perf_counter() - start > 0.5:  # reports come ten times a second
        assert len(calls) >= 2
        with pytest.raises(InterruptedError, match="enough"):
            opened(stop)
    done = [c[1] for c in calls]
    assert done == sorted(set(done)) and all(c[0] == str(file) and c[2] == size for c in calls)
    with pytest.raises(TypeError, match="must be callable"):
        ms.dataset.on_index_progress(3)


def test_config(tmp_path):
    before = config.get_num_parallel_workers()
    assert before == os.cpu_count()
    with pytest.raises(ValueError, match="at least 1"):
        config.set_num_parallel_workers(0)
    with pytest.raises(TypeError, match="must be an int"):
        config.set_seed("a")
    with pytest.raises(NotImplementedError, match="memory nodes"):
        config.set_numa_enable(True)
    path = tmp_path / "config.json"
    path.write_text('{"prefetchSize": 3, "callbackTimeout": 5}')
    config.load(str(path))
    try:
        assert config.get_prefetch_size() == 3 and config.get_callback_timeout() == 5
        assert values(numbers(20).map(lambda x: x, "x", num_parallel_workers=2)) == list(range(20))
    finally:
        config._settings["prefetch_size"] = None
        config.set_callback_timeout(60)
