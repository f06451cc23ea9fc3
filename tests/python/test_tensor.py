"""Tensor: making, converting, printing, sharing memory, pickling."""

import copy
import pickle

import mycel as ms
import numpy as np
import pytest
from mycel import Parameter, ParameterTuple, Tensor


@pytest.mark.parametrize(
    "value, dtype, shape",
    [
        (1.5, ms.float32, ()),
        (1, ms.int64, ()),
        (True, ms.bool_, ()),
        (1 + 2j, ms.complex128, ()),
        ([1, 2], ms.int64, (2,)),
        ([1.0, 2], ms.float32, (2,)),
        ([True, False], ms.bool_, (2,)),
        ([[1, 2.5], [3, 4]], ms.float32, (2, 2)),
        ([], ms.float32, (0,)),
        ((1, 2, 3), ms.int64, (3,)),
        (np.arange(3), ms.int64, (3,)),
        (np.array([1.5]), ms.float64, (1,)),
        (np.float64(1.5), ms.float64, ()),
        ([np.float64(1.5)], ms.float32, (1,)),
        (np.ones((2, 3), np.float16), ms.float16, (2, 3)),
        ([Tensor([1, 2]), Tensor([3, 4])], ms.int64, (2, 2)),
        ([np.ones(2, np.int8), np.zeros(2, np.int8)], ms.int8, (2, 2)),
    ],
)
def test_dtype_and_shape_follow_the_value(value, dtype, shape):
    t = Tensor(value)
    assert t.dtype == dtype and t.shape == shape
    want = value
    if isinstance(value, list) and value and isinstance(value[0], Tensor):
        want = [v.asnumpy() for v in value]
    np.testing.assert_array_equal(t.asnumpy(), np.array(want))


def test_dtype_argument_takes_all_spellings():
    for spelling in (ms.float16, "float16", np.float16, np.dtype("float16")):
        assert Tensor([1, 2], spelling).dtype == ms.float16
    assert Tensor([1.9], dtype=int).dtype == ms.int64
    assert Tensor(Tensor([1.9]), ms.int32).asnumpy().tolist() == [1]


def test_construction_copies_and_from_numpy_shares():
    a = np.ones(3, np.float32)
    copied, shared = Tensor(a), Tensor.from_numpy(a)
    a[0] = 5
    assert copied.asnumpy().tolist() == [1, 1, 1]
    assert shared.asnumpy().tolist() == [5, 1, 1]


def test_strided_and_transposed_arrays():
    a = np.arange(24).reshape(2, 3, 4)
    for view in (a.T, a[:, ::-1], a[..., 1], np.asfortranarray(a)):
        np.testing.assert_array_equal(Tensor(view).asnumpy(), view)
        np.testing.assert_array_equal(Tensor.from_numpy(view).asnumpy(), view)


def test_asnumpy_shares_memory_and_is_read_only():
    t = Tensor([1.0, 2.0])
    a = t.asnumpy()
    assert not a.flags.writeable
    assert a.__array_interface__["data"][0] == t.asnumpy().__array_interface__["data"][0]
    t = t + 1  # the old value stays under its array
    assert a.tolist() == [1, 2]
    with pytest.raises(ValueError):
        a[0] = 3


def test_bfloat16_is_widened():
    t = Tensor([1.0, 2.5], ms.bfloat16)
    assert t.asnumpy().dtype == np.float32 and t.asnumpy().tolist() == [1, 2.5]
    assert pickle.loads(pickle.dumps(t)).dtype == ms.bfloat16


def test_buffer_protocol():
    t = Tensor(np.arange(6, dtype=np.int16).reshape(2, 3))
    view = memoryview(t)
    assert view.readonly and view.shape == (2, 3) and view.format == "h" and view.strides == (6, 2)
    assert view.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert bytes(Tensor([1, 2], ms.uint8)) == b"\x01\x02"
    np.testing.assert_array_equal(np.asarray(t), np.arange(6).reshape(2, 3))
    assert np.asarray(t, dtype=np.float64).dtype == np.float64
    np.testing.assert_allclose(np.exp(Tensor([0.0, 1.0])), np.exp(np.float32([0, 1])))


def test_dlpack_both_ways():
    t = Tensor([[1.0, 2.0], [3.0, 4.0]])
    a = np.from_dlpack(t)
    np.testing.assert_array_equal(a, t.asnumpy())
    assert a.__array_interface__["data"][0] == t.asnumpy().__array_interface__["data"][0]
    b = np.arange(6.0).reshape(2, 3)
    u = ms.from_dlpack(b)
    np.testing.assert_array_equal(u.asnumpy(), b)
    b[0, 0] = 7  # shared
    assert u[0, 0] == 7
    assert t.__dlpack_device__() == (1, 0)
    capsule = t.__dlpack__()
    assert ms.from_dlpack(capsule).shape == (2, 2)
    with pytest.raises(TypeError, match="capsule"):
        ms.from_dlpack(capsule)  # a capsule serves once


def test_memory_outlives_the_tensor():
    a = Tensor(np.arange(1000)).asnumpy()
    b = np.from_dlpack(Tensor(np.arange(1000)))
    import gc

    gc.collect()
    assert a.sum() == b.sum() == 499500


def test_repr_and_str():
    assert repr(Tensor([1.0, 2.0])) == "Tensor(shape=[2], dtype=Float32, value= [1., 2.])"
    assert str(Tensor([1.0, 2.0])) == "[1. 2.]"
    assert repr(Tensor(3)) == "Tensor(shape=[], dtype=Int64, value= 3)"
    assert (
        repr(Tensor([[1, 2], [3, 4]]))
        == "Tensor(shape=[2, 2], dtype=Int64, value=\n[[1, 2],\n [3, 4]])"
    )
    assert repr(Tensor([0.25, 0.0])) == "Tensor(shape=[2], dtype=Float32, value= [0.25, 0.  ])"
    assert repr(Tensor([True, False])) == "Tensor(shape=[2], dtype=Bool, value= [ True, False])"
    assert repr(ms.float32) == "mycel.float32" and str(ms.uint8) == "UInt8"
    assert str(Tensor(np.arange(6.0).reshape(2, 3))) == str(np.arange(6.0).reshape(2, 3))


def test_python_numbers():
    assert bool(Tensor([1.0])) and not bool(Tensor(0))
    assert int(Tensor(3.5)) == 3 and float(Tensor([1])) == 1.0
    assert [10, 20, 30][Tensor(1)] == 20
    assert Tensor([1.5, 2.5]).item(1) == 2.5 and Tensor([[1, 2]]).item((0, 1)) == 2
    assert Tensor(2**63 + 5, ms.uint64).item() == 2**63 + 5
    assert len(Tensor([[1], [2]])) == 2
    assert [int(x) for x in Tensor([1, 2, 3])] == [1, 2, 3]
    assert Tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert 2 in Tensor([1, 2]) and 5 not in Tensor([1, 2])


def test_properties():
    t = Tensor(np.zeros((2, 3, 4), np.float64))
    assert (t.ndim, t.size, t.itemsize, t.nbytes, t.strides) == (3, 24, 8, 192, (96, 32, 8))
    assert t.T.shape == (4, 3, 2) and t.mT.shape == (2, 4, 3)


def test_pickle_copy_and_hash():
    t = Tensor([[1.0, 2.0]])
    for twin in (pickle.loads(pickle.dumps(t)), copy.copy(t), copy.deepcopy(t)):
        assert twin is not t and twin.dtype == t.dtype and (twin == t).asnumpy().all()
        twin[0, 0] = 9
        assert t[0, 0] == 1
    assert hash(t) == hash(t) and len({t, t}) == 1
    assert pickle.loads(pickle.dumps(ms.float32)) is ms.float32


def test_equality_with_other_things():
    t = Tensor([1.0])
    assert (t == None) is False and (t != None) is True and (t == "a") is False  # noqa: E711


def test_parameter():
    p = Parameter(Tensor([1.0, 2.0]), name="w")
    assert repr(p) == "Parameter (name=w, shape=(2,), dtype=Float32, requires_grad=True)"
    before = p.value()
    p.set_data(Tensor([3.0, 4.0]))
    assert p.asnumpy().tolist() == [3, 4] and before.asnumpy().tolist() == [1, 2]
    assert isinstance(p + 1, Tensor) and not isinstance(p + 1, Parameter)
    p[0] = 9.0
    assert p.asnumpy().tolist() == [9, 4]
    q = p.clone()
    q.set_data(Tensor([0.0, 0.0]))
    assert p.asnumpy().tolist() == [9, 4] and q.name == "w"
    r = pickle.loads(pickle.dumps(p))
    assert isinstance(r, Parameter) and r.name == "w" and r.asnumpy().tolist() == [9, 4]
    d = copy.deepcopy(p)
    assert isinstance(d, Parameter) and d is not p
    p.requires_grad = False
    assert "requires_grad=False" in str(p)


def test_parameter_tuple():
    items = ParameterTuple((Parameter(1.0, "a"), Parameter(2.0, "b")))
    assert [p.name for p in items.clone("x")] == ["x.a", "x.b"]
    with pytest.raises(ValueError, match="two parameters are named 'a'"):
        ParameterTuple((Parameter(1.0, "a"), Parameter(2.0, "a")))
    with pytest.raises(TypeError, match="must be a Parameter"):
        ParameterTuple((Tensor(1.0),))


def test_lists_keep_all_digits_of_a_wide_dtype():
    values = [16777217.0, 1e300, 0.1]
    np.testing.assert_array_equal(Tensor(values, ms.float64).asnumpy(), values)
    assert Tensor([[2**64 - 1]], ms.uint64).asnumpy().tolist() == [[2**64 - 1]]
    assert Tensor(values).dtype == ms.float32
