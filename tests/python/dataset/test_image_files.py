"""Images in files, and images of Pillow in pipelines."""

import io

import mycel.dataset.vision as vision
import numpy as np
import pytest
from mycel.dataset import NumpySlicesDataset
from mycel.dataset.transforms import py_transforms
from mycel.dataset.vision import c_transforms
from mycel.dataset.vision import py_transforms as py_vision
from PIL import Image
from tiff_files import write_tiff

pytestmark = pytest.mark.one_mode("images are read before any network sees them")


def picture(h=24, w=32):
    y, x = np.mgrid[:h, :w]
    return np.stack([8 * x % 256, 10 * y % 256, (x + y) * 4 % 256], -1).astype(np.uint8)


def test_files(tmp_path):
    image = picture()
    vision.write_png(tmp_path / "a.png", image)
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "a.png")), image)
    np.testing.assert_array_equal(vision.read_image(tmp_path / "a.png"), image)
    assert vision.read_image(tmp_path / "a.png", vision.ImageReadMode.GRAYSCALE).shape == (
        24,
        32,
        1,
    )
    data = vision.encode_jpeg(image, 90)
    # Both are libjpeg-turbo: the same bytes give the same pixels.
    want = np.asarray(Image.open(io.BytesIO(data.tobytes())))
    np.testing.assert_array_equal(vision.Decode()(data), want)
    assert vision.get_image_size(data) == [24, 32] == vision.get_image_size(image)
    assert vision.get_image_num_channels(data) == 3
    assert vision.get_image_size(Image.fromarray(image)) == [24, 32]
    vision.write_file(tmp_path / "b.jpg", data)
    np.testing.assert_array_equal(vision.read_file(tmp_path / "b.jpg"), data)
    with pytest.raises(OSError, match="none.png"):
        vision.read_image(tmp_path / "none.png")
    with pytest.raises(ValueError, match="quality"):
        vision.encode_jpeg(image, 101)


@pytest.mark.parametrize("channels", [None, 1, 3, 4])
def test_pillow_reads_what_is_written(tmp_path, channels):
    """Pixels, sizes and channels as Pillow has them, of every kind of image."""
    image = np.concatenate([picture(), picture()[..., ::-1][..., :1]], -1)
    image = image[..., 0] if channels is None else image[..., :channels]
    shown = np.squeeze(image)
    np.testing.assert_array_equal(np.asarray(vision.ToPIL()(image)), shown)
    if channels == 4:  # files of four channels are not written
        return
    encoded = vision.encode_png(image)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(encoded.tobytes()))), shown)
    vision.write_jpeg(tmp_path / "a.jpg", image, 95)
    with Image.open(tmp_path / "a.jpg") as read:
        pixels = np.asarray(read)
        data = vision.read_file(tmp_path / "a.jpg")
        assert vision.get_image_num_channels(data) == len(read.getbands())
        assert vision.get_image_size(data) == [read.height, read.width]
    assert np.abs(pixels.astype(int) - shown).mean() < 3
    np.testing.assert_array_equal(
        np.squeeze(vision.read_image(tmp_path / "a.jpg", vision.ImageReadMode.UNCHANGED)), pixels
    )


def test_images_of_pillow():
    image = picture()
    seen = []

    def turned(im):
        seen.append(type(im))
        return im.transpose(Image.Transpose.FLIP_LEFT_RIGHT)

    ops = [vision.ToPIL(), vision.CenterCrop(8), turned, vision.ToTensor(), lambda a: a * 255]
    d = NumpySlicesDataset({"image": image[None]}).map(ops, "image")
    (row,) = d.create_tuple_iterator(num_epochs=1, output_numpy=True)
    want = vision.CenterCrop(8)(image)[:, ::-1].transpose(2, 0, 1)
    np.testing.assert_allclose(row[0], want, atol=1e-3)
    assert issubclass(seen[0], Image.Image)
    chain = py_transforms.Compose([py_vision.ToPIL(), turned, py_vision.ToTensor()])
    np.testing.assert_allclose(chain(image) * 255, image[:, ::-1].transpose(2, 0, 1), atol=1e-3)
    made = vision.Decode(to_pil=True)(vision.encode_png(image))
    np.testing.assert_array_equal(np.asarray(made), image)


def test_modules_under_their_earlier_names():
    image = picture()
    np.testing.assert_array_equal(
        c_transforms.Resize((12, 16))(image), vision.Resize((12, 16))(image)
    )
    chw = image.transpose(2, 0, 1).astype(np.float32) / 255
    half = [0.5, 0.5, 0.5]
    np.testing.assert_allclose(py_vision.Normalize(half, half)(chw), chw * 2 - 1, atol=1e-6)
    assert (py_vision.Cutout(4)(chw) == 0).sum() >= 3 * 4 * 4
    with pytest.raises(ValueError, match="'rgb' must be True"):
        c_transforms.Decode(rgb=False)


@pytest.mark.parametrize("tile", [None, (16, 32)])
@pytest.mark.parametrize(("bands", "planar"), [(1, False), (3, False), (3, True), (4, False)])
def test_tiff_of_16_bits(tmp_path, tile, bands, planar):
    image = np.random.default_rng(0).integers(0, 65536, (37, 50, bands)).astype(np.uint16)
    path = str(tmp_path / "a.tif")
    rgb = 2 if bands > 1 else 1
    write_tiff(path, image, tile=tile, rows_per_strip=10, planar=planar, photometric=rgb)
    read = vision.read_image(path)
    assert read.dtype == np.uint16
    assert np.array_equal(read, image[:, :, : 3 if bands > 1 else 1])  # alpha is left out
    assert vision.read_image(path, vision.ImageReadMode.COLOR).shape == (37, 50, 3)


def test_tiff_of_16_bits_that_is_refused(tmp_path):
    path = str(tmp_path / "a.tif")
    write_tiff(path, np.ones((4, 4, 1), np.int16))
    with pytest.raises(ValueError, match="where they are unsigned"):
        vision.read_image(path)
    write_tiff(path, np.ones((4, 4, 1), np.uint16), photometric=0)
    with pytest.raises(ValueError, match="grey or RGB alone; photometric interpretation 0"):
        vision.read_image(path)
    write_tiff(path, np.ones((40, 40, 1), np.uint16), tile=(16, 16))
    whole = open(path, "rb").read()
    open(path, "wb").write(whole[:-700])
    with pytest.raises(ValueError, match="broken TIFF: its pixels"):
        vision.read_image(path)
