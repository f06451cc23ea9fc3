"""Trains a small convolutional network on 1,797 handwritten digits, tests it on a held-out fifth,
saves and exports it, and lets a C++ program without Python read a few digits. digits.cc is the same
program in C++; with one seed both end in the same bits. Run it with `./dev demo`.
"""

import argparse
import subprocess
import tempfile
import time
import zlib
from pathlib import Path

import mycel as ms
from mycel import nn, ops
from mycel.common import terminal
from mycel.common.tensor_file import load_tensors, save_tensors

HELD_OUT, BATCH, PEAK_RATE = 360, 32, 0.003


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


def read_digits():
    """(images, labels) to train on and to test with, drawn at random from the package's digits."""
    data = load_tensors(Path(ms.__file__).with_name("data") / "digits.safetensors")
    images = data["images"].astype(ms.float32).reshape(-1, 1, 8, 8) / 16.0
    labels = data["labels"].astype(ms.int32)
    order = ops.randperm(images.shape[0])
    parts = order[HELD_OUT:], order[:HELD_OUT]
    return [(ops.gather(images, rows, 0), ops.gather(labels, rows, 0)) for rows in parts]


def right_answers(net, images, labels):
    """How many images the network names correctly."""
    return int((net(images).asnumpy().argmax(1) == labels.asnumpy()).sum())


def train(net, images, labels, epochs, screen):
    """Adam with a rate that falls along a cosine; gives the mean loss of each epoch."""
    batches = images.shape[0] // BATCH
    rate = nn.CosineDecayLR(0.0, PEAK_RATE, epochs * batches)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=rate)
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss_fn), optimizer)
    history = []
    for epoch in range(epochs):
        order = ops.randperm(images.shape[0])
        x, y = ops.gather(images, order, 0), ops.gather(labels, order, 0)
        total = 0.0
        for b in range(batches):
            rows = slice(b * BATCH, (b + 1) * BATCH)
            total += float(step(x[rows], y[rows]))
            done = (epoch * batches + b + 1) / (epochs * batches)
            screen.show(
                f"epoch {epoch + 1:2d}/{epochs} {terminal.bar(done, 30)} loss {total / (b + 1):.4f}"
            )
        history.append(total / batches)
        if (epoch + 1) % 10 == 0 or epoch + 1 == epochs:
            screen.print(f"epoch {epoch + 1:2d}/{epochs}  loss {history[-1]:.4f}")
    return history


def checksum(net):
    """CRC-32 of all weights, in order."""
    crc = 0
    for p in net.get_parameters():
        crc = zlib.crc32(p.asnumpy().tobytes(), crc)
    return f"{crc:08x}"


def predict_in_cpp(model, images, screen):
    """Gives the digits to the C++ program digits_predict, if it has been built."""
    program = Path(ms.__file__).with_name("bin").resolve().parent / "examples" / "digits_predict"
    if not program.exists():
        screen.print(f"The C++ predictor is not built ({program.name}); try ./dev build.")
        return
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder) / "inputs.safetensors"
        save_tensors(inputs, {"input0": images})
        done = subprocess.run([program, model, inputs], check=True, capture_output=True, text=True)
    screen.print(done.stdout)


def main():
    """The whole job."""
    parser = argparse.ArgumentParser(description="Trains a digit classifier.")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--out", default=".", help="folder for digits.safetensors and digits.mindir"
    )
    options = parser.parse_args()
    screen = terminal.Screen()
    ms.set_seed(options.seed)
    (images, labels), (test_images, test_labels) = read_digits()
    net = Net()
    screen.print(f"{images.shape[0]} digits to learn from, {HELD_OUT} held out")
    start = time.perf_counter()
    history = train(net, images, labels, options.epochs, screen)
    seconds = time.perf_counter() - start
    screen.print(terminal.curve([("loss by epoch", history)], min(screen.width, 80), 4))
    right = right_answers(net, test_images, test_labels)
    screen.print(
        f"held-out digits: {right}/{HELD_OUT} right ({right / HELD_OUT:.2%}), "
        f"trained in {seconds:.1f} s"
    )
    out = Path(options.out)
    save_tensors(out / "digits.safetensors", dict(net.parameters_and_names()))
    model = ms.export(net, test_images[:3], file_name=out / "digits.mindir")
    screen.print(f"weights {checksum(net)}, saved as digits.safetensors, exported as digits.mindir")
    predict_in_cpp(model, test_images[:3], screen)
    screen.print(
        "What to try next: --epochs 5, another network in examples/digits.py,\n"
        "build/examples/digits (the same in C++), build/bin/mycel ir show digits.mindir"
    )


if __name__ == "__main__":
    main()
