"""A process alone as a world of one: groups, collective ops, parallel settings."""

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, ops
from mycel.communication import management as comm

X = np.arange(6.0, dtype=np.float32).reshape(2, 3)


@pytest.fixture
def world():
    comm.init()
    yield
    comm.release()


def test_nothing_is_known_before_init():
    with pytest.raises(RuntimeError, match="call init"):
        comm.get_rank()


def test_the_world(world):
    assert comm.get_rank() == 0 and comm.get_group_size() == 1
    assert comm.get_local_rank() == 0 and comm.get_local_rank_size() == 1
    comm.create_group("pair", [0])
    assert comm.get_group_size("pair") == 1
    assert comm.get_world_rank_from_group_rank("pair", 0) == 0
    assert comm.get_group_rank_from_world_rank(0, "pair") == 0
    with pytest.raises(ValueError, match="already"):
        comm.create_group("pair", [0])
    comm.destroy_group("pair")
    with pytest.raises(ValueError, match="no group 'pair'"):
        comm.get_rank("pair")
    with pytest.raises(ValueError, match="process 0 alone"):
        comm.create_group("more", [0, 1])
    with pytest.raises(ValueError, match=r"\[0, 1\), got 1"):
        comm.get_world_rank_from_group_rank(comm.NCCL_WORLD_COMM_GROUP, 1)


def test_started_with_others(monkeypatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    with pytest.raises(NotImplementedError, match="OMPI_COMM_WORLD_SIZE=4"):
        comm.init()
    with pytest.raises(ValueError, match="mccl"):
        comm.init("gloo")


def test_collective_ops(world):
    x = Tensor(X)
    for op in (
        ops.AllReduce(),
        ops.AllReduce(ops.ReduceOp.MAX, "nccl_world_group"),
        ops.AllGather(),
        ops.ReduceScatter(ops.ReduceOp.SUM),
        ops.AlltoAll(1, 0, 1),
    ):
        np.testing.assert_array_equal(op(x).asnumpy(), X)
    (y,) = ops.Broadcast(0)((x,))
    np.testing.assert_array_equal(y.asnumpy(), X)
    g = ms.grad(lambda t: (ops.AllReduce()(t) ** 2).sum())(x)
    np.testing.assert_array_equal(g.asnumpy(), 2 * X)
    with pytest.raises(ValueError, match="no group 'others'"):
        ops.AllReduce(group="others")(x)
    with pytest.raises(ValueError, match="split_count must be the size of the group, 1, got 4"):
        ops.AlltoAll(4, 0, 1)(x)


def test_parallel_settings():
    from mycel import context

    assert context.get_auto_parallel_context("device_num") == 1
    context.set_auto_parallel_context(
        parallel_mode=context.ParallelMode.DATA_PARALLEL, gradients_mean=True, device_num=1
    )
    assert context.get_auto_parallel_context("parallel_mode") == "data_parallel"
    context.reset_auto_parallel_context()
    assert context.get_auto_parallel_context("gradients_mean") is False
    with pytest.raises(ValueError, match="'device_num' must be 1, got 8"):
        context.set_auto_parallel_context(device_num=8)
    with pytest.raises(ValueError, match="must be one of True, False, got 1"):
        context.set_auto_parallel_context(full_batch=1)
    with pytest.raises(NotImplementedError, match="between devices"):
        context.set_auto_parallel_context(comm_fusion={})
    with pytest.raises(ValueError, match="unknown option"):
        context.set_auto_parallel_context(gradient_mean=True)
