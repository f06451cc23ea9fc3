"""Trains a small convolutional network on handwritten digits, tests it on a held-out fifth, saves
and exports it, and lets a C++ program without Python read three of them. digits.cc is the same
program in C++: with one seed both end in the same bits. Run it with `./dev demo`.
"""

import argparse
import subprocess
import tempfile
import time
import zlib
from pathlib import Path

import mycel as ms
from mycel import dataset, nn
from mycel.common import terminal
from mycel.common.tensor_file import save_tensors

BATCH, PEAK_RATE = 32, 0.003


class Net(nn.Cell):
    """Two convolutions, two dense layers: images [n, 1, 8, 8] to ten scores."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, weight_init="HeUniform")
        self.conv2 = nn.Conv2d(32, 64, 3, weight_init="HeUniform")
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.dense = nn.Dense(256, 128, weight_init="HeUniform")
        self.head = nn.Dense(128, 10, weight_init="HeUniform")

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        return self.head(self.relu(self.dense(self.flatten(x))))


def checksum(net):
    """CRC-32 of all weights, in order."""
    crc = 0
    for p in net.get_parameters():
        crc = zlib.crc32(p.asnumpy().tobytes(), crc)
    return f"{crc:08x}"


def predict_in_cpp(model, images):
    """Gives the digits to the C++ program digits_predict, if it has been built."""
    program = Path(ms.__file__).with_name("bin").resolve().parent / "examples" / "digits_predict"
    if not program.exists():
        return f"The C++ predictor is not built ({program.name}); try ./dev build."
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder) / "inputs.safetensors"
        save_tensors(inputs, {"image": images})
        done = subprocess.run([program, model, inputs], check=True, capture_output=True, text=True)
    return done.stdout


def main():
    """The whole job."""
    parser = argparse.ArgumentParser(description="Trains a digit classifier.")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default=".", help="folder for digits.ckpt and digits.mindir")
    options = parser.parse_args()
    screen = terminal.Screen()
    ms.set_seed(options.seed)
    ms.set_context(mode=ms.GRAPH_MODE)

    digits = dataset.digits(usage="train", shuffle=True).batch(BATCH, drop_remainder=True)
    held_out = dataset.digits(usage="test").batch(360)
    net = Net()
    rate = nn.CosineDecayLR(0.0, PEAK_RATE, options.epochs * digits.get_dataset_size())
    model = ms.Model(
        net,
        nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"),
        nn.Adam(net.trainable_params(), learning_rate=rate),
        metrics={"acc"},
    )
    start = time.perf_counter()
    model.train(options.epochs, digits, callbacks=ms.ProgressBar())
    seconds = time.perf_counter() - start
    right = model.eval(held_out)["acc"]
    screen.print(f"held-out digits: {right:.2%} of 360 right, trained in {seconds:.1f} s")

    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    ms.save_checkpoint(net, str(out / "digits.ckpt"))
    images = next(held_out.create_tuple_iterator())[0][:3]
    exported = ms.export(net.set_train(False), images, file_name=str(out / "digits.mindir"))
    screen.print(f"weights {checksum(net)}, saved as digits.ckpt, exported as digits.mindir")
    screen.print(predict_in_cpp(exported, images))
    screen.print(
        "What to try next: --epochs 5, another network in examples/digits.py,\n"
        f"build/examples/digits (the same in C++), build/bin/mycel ir show {exported}"
    )


if __name__ == "__main__":
    main()
