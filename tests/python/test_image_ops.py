"""Resizing, sampling, crops and boxes against formulas written in NumPy."""

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, nn, ops

RNG = np.random.default_rng(5)
X = RNG.normal(size=(2, 3, 5, 6)).astype(np.float32)


def line(x, at):
    """Linear interpolation of the last dim at positions, the border outside."""
    at = np.clip(at, 0, x.shape[-1] - 1)
    low = np.floor(at).astype(int)
    high = np.minimum(low + 1, x.shape[-1] - 1)
    return x[..., low] * (1 - (at - low)) + x[..., high] * (at - low)


def planes(x, size, place):
    h = line(np.swapaxes(x, -1, -2), place(np.arange(size[0]), x.shape[-2], size[0]))
    return line(np.swapaxes(h, -1, -2), place(np.arange(size[1]), x.shape[-1], size[1]))


def asymmetric(i, n, m):
    return i * n / m


def half_pixel(i, n, m):
    return (i + 0.5) * n / m - 0.5


def corners(i, n, m):
    return i * (n - 1) / (m - 1)


def close(got, want, tol=2e-5):
    np.testing.assert_allclose(got.asnumpy(), want, tol, tol)


@pytest.mark.parametrize("size", [(3, 11), (7, 2)])
def test_bilinear(size):
    x = Tensor(X)
    close(ops.ResizeBilinear(size)(x), planes(X, size, asymmetric))
    close(ops.ResizeBilinear(size, True)(x), planes(X, size, corners))
    close(ops.ResizeBilinear(size, False, True)(x), planes(X, size, half_pixel))
    close(ops.ResizeBilinearV2(align_corners=True)(x, size), planes(X, size, corners))
    close(ops.interpolate(x, size, mode="bilinear"), planes(X, size, half_pixel))
    close(ops.interpolate(x, size, mode="bilinear", align_corners=True), planes(X, size, corners))
    close(nn.ResizeBilinear()(x, size), planes(X, size, asymmetric))
    close(nn.ResizeBilinear(True)(x, None, 2), planes(X, (10, 12), half_pixel))
    close(nn.Upsample(size, mode="bilinear")(x), planes(X, size, half_pixel))


def test_nearest():
    rows, columns = np.arange(7) * 5 // 7, np.arange(4) * 6 // 4
    want = X[:, :, rows][..., columns]
    np.testing.assert_array_equal(ops.ResizeNearestNeighbor((7, 4))(Tensor(X)).asnumpy(), want)
    np.testing.assert_array_equal(ops.interpolate(Tensor(X), (7, 4)).asnumpy(), want)
    last = np.moveaxis(X, 1, -1)
    got = ops.ResizeNearestNeighborV2()(Tensor(last), (7, 4))
    np.testing.assert_array_equal(got.asnumpy(), np.moveaxis(want, 1, -1))
    ints = ops.ResizeNearestNeighbor((2, 2))(Tensor(np.arange(16).reshape(1, 1, 4, 4)))
    np.testing.assert_array_equal(ints.asnumpy()[0, 0], [[0, 2], [8, 10]])
    twice = ops.interpolate(Tensor(X), scale_factor=2.0)
    np.testing.assert_array_equal(twice.asnumpy(), X.repeat(2, 2).repeat(2, 3))


def test_lines_volumes_and_areas():
    x = np.array([[[1, 2, 3], [4, 5, 6]]], np.float32)
    got = ops.ResizeLinear1D()(Tensor(x), (6,))
    close(got, [[[1, 1.4, 1.8, 2.2, 2.6, 3], [4, 4.4, 4.8, 5.2, 5.6, 6]]])
    close(
        ops.ResizeLinear1D("half_pixel")(Tensor(x), (6,)), line(x, half_pixel(np.arange(6), 3, 6))
    )
    v = RNG.normal(size=(1, 2, 2, 3, 4)).astype(np.float32)
    want = v.repeat(2, 2).repeat(2, 3).repeat(2, 4)
    close(ops.UpsampleNearest3D((4, 6, 8))(Tensor(v)), want)
    inner = planes(v, (5, 7), corners)
    want = np.moveaxis(line(np.moveaxis(inner, 2, -1), corners(np.arange(3), 2, 3)), -1, 2)
    close(ops.UpsampleTrilinear3D((3, 5, 7), align_corners=True)(Tensor(v)), want)
    close(ops.interpolate(Tensor(X), (1, 2), mode="area")[:, :, 0, 0], X[..., :3].mean((2, 3)))
    image = np.moveaxis(X, 1, -1)
    close(ops.ResizeArea()(Tensor(image), (5, 2)), image.reshape(2, 5, 2, 3, 3).mean(3))
    # Parts of elements count in proportion.
    got = ops.ResizeArea()(Tensor(x.reshape(1, 1, 6, 1)), (1, 4)).reshape(4)
    close(got, np.array([1 + 0.5 * 2, 0.5 * 2 + 3, 4 + 0.5 * 5, 0.5 * 5 + 6]) / 1.5)


def test_bicubic_keeps_polynomials():
    ramp = np.arange(12, dtype=np.float32)
    x = Tensor(np.broadcast_to(ramp, (1, 1, 3, 12)))
    got = ops.ResizeBicubic(half_pixel_centers=True)(x, (3, 24)).asnumpy()[0, 0, 1]
    at = half_pixel(np.arange(24), 12, 24)
    np.testing.assert_allclose(got[6:-6], at[6:-6], 1e-5)
    square = Tensor(np.broadcast_to(ramp**2, (1, 1, 3, 12)))
    got = ops.interpolate(square, (3, 24), mode="bicubic").asnumpy()[0, 0, 1]
    np.testing.assert_allclose(got[6:-6], at[6:-6] ** 2, 1e-5)


def test_grids():
    theta = Tensor(np.array([[[1, 0, 0], [0, 1, 0]]] * 2, np.float32))
    for align in (False, True):
        grid = ops.affine_grid(theta, (2, 3, 5, 6), align)
        close(ops.grid_sample(Tensor(X), grid, "bilinear", "border", align), X)
        close(ops.GridSampler2D("nearest", "zeros", align)(Tensor(X), grid), X)
    flip = Tensor(np.array([[[-1, 0, 0], [0, 1, 0]]] * 2, np.float32))
    close(ops.grid_sample(Tensor(X), ops.AffineGrid()(flip, (2, 3, 5, 6))), X[..., ::-1], 1e-4)
    far = Tensor(np.full((2, 1, 1, 2), 3.0, np.float32))
    assert ops.grid_sample(Tensor(X), far).asnumpy().sum() == 0
    close(ops.grid_sample(Tensor(X), far, padding_mode="border")[..., 0, 0], X[..., -1, -1])
    # 3 is one map to the right of the right edge: its reflection is the left edge.
    close(ops.grid_sample(Tensor(X), far, "nearest", "reflection")[..., 0, 0], X[..., 0, 0])
    with pytest.raises(ValueError, match="grid must hold 2 coordinates"):
        ops.grid_sample(Tensor(X), Tensor(np.zeros((2, 1, 1, 3), np.float32)))


def test_crop_and_resize():
    image = np.moveaxis(X, 1, -1)
    boxes = np.array([[0, 0, 1, 1], [0.25, 0.2, 0.75, 0.8], [-0.5, 0, 1, 1]], np.float32)
    which = Tensor(np.array([1, 0, 1], np.int32))
    got = ops.CropAndResize(extrapolation_value=7.0)(Tensor(image), Tensor(boxes), which, (3, 4))
    whole = np.moveaxis(planes(X[1], (3, 4), corners), 0, -1)
    close(got[0], whole)
    inner = np.moveaxis(planes(X[0][:, 1:4, 1:5], (3, 4), corners), 0, -1)
    close(got[1], inner)
    np.testing.assert_array_equal(got.asnumpy()[2, 0], 7)
    one = ops.crop_and_resize(Tensor(image), Tensor(boxes[:1]), which[:1], (1, 1))
    close(one[0, 0, 0], (X[1, :, 2, 2] + X[1, :, 2, 3]) / 2)
    part = Tensor(boxes[1:2])
    near = ops.crop_and_resize(Tensor(image), part, which[1:2], (3, 4), "nearest")
    close(near[0], image[0, 1:4, 1:5])


def test_roi_align_of_a_ramp():
    y, x = np.meshgrid(np.arange(8.0), np.arange(9.0), indexing="ij")
    maps = np.stack([y, x, y + 2 * x])[None].astype(np.float32)
    rois = np.array([[0, 2, 4, 10, 12]], np.float32)
    got = ops.ROIAlign(2, 4, 0.5, 3, 0)(Tensor(maps), Tensor(rois)).asnumpy()[0]
    rows, columns = 2 + (np.arange(2) + 0.5) * 2, 1 + (np.arange(4) + 0.5)
    np.testing.assert_allclose(got[0], np.broadcast_to(rows[:, None], (2, 4)), 1e-5)
    np.testing.assert_allclose(got[1], np.broadcast_to(columns, (2, 4)), 1e-5)
    np.testing.assert_allclose(got[2], rows[:, None] + 2 * columns, 1e-5)
    # Ends count whole pixels, and a roi may be thinner than one, or run backwards.
    got = ops.ROIAlign(1, 1, 0.5, 2, 1)(Tensor(maps), Tensor([[0.0, 2, 4, 10, 4]])).asnumpy()[0]
    np.testing.assert_allclose(got.ravel(), [3.25 - 1, 3.25, 2.25 + 2 * 3.25], 1e-5)
    got = ops.ROIAlign(1, 2, 0.5, 1, 1)(Tensor(maps), Tensor([[0.0, 6, 4, 1, 4]])).asnumpy()[0]
    np.testing.assert_allclose(got[1, 0], [2.5, 1.5], 1e-5)


def test_boxes():
    anchors = np.array([[0, 0, 9, 9], [5, 5, 15, 12], [20, 20, 25, 30]], np.float32)
    truth = np.array([[1, 1, 8, 12], [30, 30, 40, 40]], np.float32)
    close(ops.IOU()(Tensor(anchors), Tensor(truth)), [[72 / 124, 32 / 152, 0], [0, 0, 0]])
    close(ops.iou(Tensor(anchors), Tensor(truth), "iof"), [[72 / 96, 32 / 96, 0], [0, 0, 0]])
    truth = np.array([[1, 1, 8, 12], [3, 3, 10, 11], [19, 22, 26, 33]], np.float32)
    settings = {"means": (0.1, 0.2, 0.3, 0.4), "stds": (1.0, 2.0, 0.5, 0.7)}
    coded = ops.BoundingBoxEncode(**settings)(Tensor(anchors), Tensor(truth))
    first = [-0.1, 0, (np.log(0.8) - 0.3) / 0.5, (np.log(1.2) - 0.4) / 0.7]
    np.testing.assert_allclose(coded.asnumpy()[0], first, 1e-5, 1e-6)
    decode = ops.BoundingBoxDecode(max_shape=(40, 50), **settings)
    close(decode(Tensor(anchors), coded), truth, 1e-4)
    edge = ops.bounding_box_decode(Tensor(anchors), coded, (30, 25), **settings)
    close(edge, np.minimum(truth, [25, 30, 25, 30]), 1e-4)
    inside = ops.CheckValid()(
        Tensor(np.array([[0, 0, 9, 9], [-1, 0, 3, 3], [0, 0, 19, 18], [0, 0, 18, 19]], np.float32)),
        Tensor(np.array([20, 19, 1], np.float32)),
    )
    assert inside.asnumpy().tolist() == [True, False, False, True]


def greedy(boxes, limit):
    keep = []
    for i, b in enumerate(boxes):
        for j in keep:
            a = boxes[j]
            w = min(a[2], b[2]) - max(a[0], b[0])
            h = min(a[3], b[3]) - max(a[1], b[1])
            both = max(w, 0) * max(h, 0)
            areas = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
            if both / (areas - both) > limit:
                break
        else:
            keep.append(i)
    return keep


@pytest.mark.parametrize("limit", [0.1, 0.3, 0.7])
def test_suppression(limit):
    low = RNG.uniform(0, 10, (40, 2))
    boxes = np.concatenate([low, low + RNG.uniform(2, 6, (40, 2))], 1).astype(np.float32)
    scores = RNG.permutation(40).astype(np.float32) / 40
    order = np.argsort(-scores)
    keep = greedy(boxes[order], limit)
    out, index, mask = ops.NMSWithMask(limit)(Tensor(np.column_stack([boxes, scores])))
    close(out[:, :4], boxes[order])
    np.testing.assert_array_equal(index.asnumpy(), np.arange(40))
    np.testing.assert_array_equal(np.flatnonzero(mask.asnumpy()), keep)
    want = [i for i in order[keep] if scores[i] > 0.25][:5]
    flipped = boxes[:, [2, 1, 0, 3]]
    got = ops.NonMaxSuppressionV3()(Tensor(flipped), Tensor(scores), 5, limit, 0.25)
    assert got.asnumpy().tolist() == want and got.dtype == ms.int32


def test_norms_and_rows():
    x = np.array([[3, 4], [0, 0]], np.float32)
    close(ops.L2Normalize(1)(Tensor(x)), [[0.6, 0.8], [0, 0]])
    close(ops.L2Normalize(axis=(0, 1), epsilon=100.0)(Tensor(x)), x / 10)
    assert ops.L2Loss()(Tensor(x)).item() == 12.5
    v = Tensor(np.array([[1, 2], [10, 20]], np.float32))
    close(ops.InplaceAdd((1, 1))(Tensor(x), v), [[3, 4], [11, 22]])
    close(ops.inplace_sub(Tensor(x), v, (1, 0)), [[-7, -16], [-1, -2]])
    close(ops.InplaceUpdate(1)(Tensor(x), v[:1]), [[3, 4], [1, 2]])
    close(ops.InplaceUpdateV2()(Tensor(x), (1, 0), v), [[10, 20], [1, 2]])
    scores = Tensor(np.array([[1, 8, 5, 2, 7], [4, 9, 1, 3, 5]], np.float32))
    got = ops.InTopK(3)(scores, Tensor(np.array([1, 3], np.int32)))
    assert got.asnumpy().tolist() == [True, False]


def test_random_choices():
    mask = np.zeros((4, 5), bool)
    mask[1, 2:] = mask[3, 0] = True
    seen = set()
    for _ in range(30):
        index, valid = ops.RandomChoiceWithMask(3)(Tensor(mask))
        rows = [tuple(r) for r in index.asnumpy().tolist()]
        assert valid.asnumpy().all() and len(set(rows)) == 3 and all(mask[r] for r in rows)
        seen.update(rows)
    assert len(seen) == 4
    index, valid = ops.choice_with_mask(Tensor(mask), 6)
    assert valid.asnumpy().tolist() == [True] * 4 + [False] * 2
    assert index.asnumpy()[4:].sum() == 0
    truth = Tensor(np.array([[1], [4]], np.int64))
    drawn, often, each = ops.UniformCandidateSampler(1, 4, True, 6, 0, True)(truth)
    assert sorted(drawn.asnumpy().tolist()) == [0, 2, 3, 5]
    close(often, [[4 / 6], [4 / 6]])
    close(each, [4 / 6] * 4)
    drawn, _, _ = ops.UniformCandidateSampler(1, 200, False, 6)(truth)
    assert set(drawn.asnumpy().tolist()) == set(range(6))


def test_depthwise():
    w = RNG.normal(size=(2, 3, 2, 3)).astype(np.float32)
    got = ops.DepthwiseConv2dNative(2, (2, 3), stride=(2, 1))(Tensor(X), Tensor(w)).asnumpy()
    want = np.zeros((2, 3, 2, 2, 4), np.float32)
    for i in range(2):
        for j in range(3):
            part = X[:, :, i : i + 3 : 2, j : j + 4]
            want += part[:, :, None] * w.swapaxes(0, 1)[None, :, :, i, j, None, None]
    np.testing.assert_allclose(got, want.reshape(2, 6, 2, 4), 1e-4, 1e-5)
    with pytest.raises(ValueError, match="weight must be"):
        ops.DepthwiseConv2dNative(1, 3)(Tensor(X), Tensor(w))
