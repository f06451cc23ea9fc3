"""Byte pairs on one thread: text.ByteLevelBPETokenizer against the `tokenizers` package, which has
to be installed beside Mycel; without it nothing is measured.

Usage: python bench/byte_pairs.py [TEXT_FILE] [--vocab 8000] [--seconds 1]
A tokenizer is trained on the text (the pages and sources of Mycel unless given), with the words of
GPT-2 and with those of its successors. Then both encode the same texts, documents and lines, one
call a text, in turns; `ratio` is the median of the ratios of neighbouring turns. Ids are compared
first. `cold` is the ratio of the first pass over the text after loading."""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

try:
    import tokenizers
except ModuleNotFoundError:
    print("the peer is missing: pip install tokenizers")
    sys.exit(0)
from mycel.dataset import text  # noqa: E402

GPT4 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def trained(words, whole, vocab):
    from tokenizers import models, pre_tokenizers, trainers

    byte_level = pre_tokenizers.ByteLevel
    made = tokenizers.Tokenizer(models.BPE())
    if words == "gpt2":
        made.pre_tokenizer = byte_level(add_prefix_space=False)
    else:
        split = pre_tokenizers.Split(tokenizers.Regex(GPT4), "isolated")
        made.pre_tokenizer = pre_tokenizers.Sequence(
            [split, byte_level(add_prefix_space=False, use_regex=False)]
        )
    trainer = trainers.BpeTrainer(
        vocab_size=vocab, initial_alphabet=byte_level.alphabet(), show_progress=False
    )
    made.train_from_iterator(whole.split("\n"), trainer)
    return made


def seconds(encode, texts):
    start = time.perf_counter()
    for t in texts:
        encode(t)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?")
    parser.add_argument("--vocab", type=int, default=8000)
    parser.add_argument("--seconds", type=float, default=1)
    args = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    files = (
        [pathlib.Path(args.file)]
        if args.file
        else sorted([*root.glob("docs/*.md"), *root.glob("src/**/*.cc")])
    )
    whole = "".join(f.read_text(encoding="utf-8") for f in files)
    size = len(whole.encode()) / 1e6
    shapes = {
        "documents of 4 kB": [whole[i : i + 4096] for i in range(0, len(whole), 4096)],
        "lines": [line for line in whole.split("\n") if line],
    }
    print(
        f"{'words':6} {'texts':18} {'mycel MB/s':>11} {'tokenizers':>11} {'ratio':>6} {'cold':>6}"
    )
    for words in ("gpt2", "gpt4"):
        peer = trained(words, whole, args.vocab)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tokenizer.json")
            peer.save(path)
            for name, texts in shapes.items():
                ours, theirs = (
                    text.ByteLevelBPETokenizer(path),
                    tokenizers.Tokenizer.from_file(path),
                )
                cold = [seconds(ours, texts), seconds(theirs.encode, texts)]
                for t in texts:
                    assert ours(t).tolist() == theirs.encode(t).ids
                turns = []
                until = time.perf_counter() + args.seconds
                while len(turns) < 3 or time.perf_counter() < until:
                    turns.append((seconds(ours, texts), seconds(theirs.encode, texts)))
                ratio = statistics.median(b / a for a, b in turns)
                best = [min(t[i] for t in turns) for i in (0, 1)]
                print(
                    f"{words:6} {name:18} {size / best[0]:11.1f} {size / best[1]:11.1f} "
                    f"{ratio:6.1f} {cold[1] / cold[0]:6.1f}"
                )


if __name__ == "__main__":
    main()
