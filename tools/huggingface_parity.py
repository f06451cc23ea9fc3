"""Networks of mycel.models beside `transformers`, on random weights: logits in both modes, greedy
generation, files written here and read there, shards, bfloat16. Needs a Python with mycel, torch
and transformers; prints a table and ends with 1 when something differs by more than 1e-4.

--golden writes the small checkpoints with their results that tests/python/test_models.py reads.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import torch
import transformers as tf
from safetensors.numpy import save_file

warnings.simplefilter("ignore")
GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "python" / "data" / "huggingface"
TOLERANCE = 1e-4


def models(width: int, layers: int, vocab: int) -> dict:
    common = dict(
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=4,
        intermediate_size=width + 8,
        vocab_size=vocab,
        max_position_embeddings=48,
    )
    t5 = dict(
        vocab_size=vocab,
        d_model=width,
        d_kv=width // 4,
        d_ff=width + 8,
        num_layers=layers,
        num_heads=4,
        decoder_start_token_id=0,
        relative_attention_num_buckets=8,
    )
    gpt2 = tf.GPT2Config(
        vocab_size=vocab, n_embd=width, n_layer=layers, n_head=4, n_positions=48,
        bos_token_id=0, eos_token_id=1,
    )  # fmt: skip
    vit = tf.ViTConfig(
        hidden_size=width, num_hidden_layers=layers, num_attention_heads=4,
        intermediate_size=width + 8, image_size=16, patch_size=4, num_labels=5,
    )  # fmt: skip
    llama3 = dict(
        rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
        original_max_position_embeddings=16, rope_theta=10000.0,
    )  # fmt: skip
    return {
        "bert": lambda: tf.BertModel(tf.BertConfig(**common)),
        "bert_mlm": lambda: tf.BertForMaskedLM(tf.BertConfig(**common)),
        "bert_classes": lambda: tf.BertForSequenceClassification(
            tf.BertConfig(**common, num_labels=3)
        ),
        "gpt2": lambda: tf.GPT2LMHeadModel(gpt2),
        "t5": lambda: tf.T5ForConditionalGeneration(tf.T5Config(**t5)),
        "t5_gated": lambda: tf.T5ForConditionalGeneration(
            tf.T5Config(**t5, feed_forward_proj="gated-gelu", tie_word_embeddings=False)
        ),
        "vit": lambda: tf.ViTForImageClassification(vit),
        "llama": lambda: tf.LlamaForCausalLM(tf.LlamaConfig(**common, num_key_value_heads=2)),
        "llama3": lambda: tf.LlamaForCausalLM(
            tf.LlamaConfig(
                **common, num_key_value_heads=2, tie_word_embeddings=True, rope_parameters=llama3
            )
        ),
        "mixtral": lambda: tf.MixtralForCausalLM(
            tf.MixtralConfig(
                **common, num_key_value_heads=2, num_local_experts=3, num_experts_per_tok=2
            )
        ),
    }


def randomized(model):
    for p in model.parameters():
        with torch.no_grad():
            if p.dim() > 1:
                p.normal_(0, 0.15)
            else:
                p.add_(torch.randn_like(p) * 0.1)
    return model.eval()


def results(name: str, model, vocab: int) -> dict:
    """Inputs and what the model makes of them."""
    g = torch.Generator().manual_seed(1)
    out = {}
    if name == "vit":
        out["pixel_values"] = torch.randn(2, 3, 16, 16, generator=g)
        with torch.no_grad():
            out["result"] = model(out["pixel_values"]).logits
        return out
    ids = torch.randint(3, vocab, (2, 7), generator=g)
    mask = torch.ones_like(ids)
    mask[1, 5:] = 0
    out.update(input_ids=ids, attention_mask=mask)
    with torch.no_grad():
        if name.startswith("t5"):
            out["decoder_input_ids"] = torch.randint(3, vocab, (2, 5), generator=g)
            out["result"] = model(**out).logits
            out["generated"] = model.generate(
                ids, attention_mask=mask, max_new_tokens=6, min_new_tokens=6, do_sample=False
            )
        else:
            r = model(**out)
            out["result"] = r.logits if hasattr(r, "logits") else r.last_hidden_state
            if hasattr(model, "lm_head"):
                out["generated"] = model.generate(
                    ids, max_new_tokens=6, do_sample=False, eos_token_id=None, pad_token_id=0
                )
    return out


def arrays(of: dict) -> dict:
    return {k: np.ascontiguousarray(v.numpy()) for k, v in of.items()}


def write_golden() -> None:
    torch.manual_seed(0)
    for name, make in models(16, 2, 40).items():
        folder = GOLDEN / name
        shutil.rmtree(folder, ignore_errors=True)
        model = randomized(make())
        model.save_pretrained(folder)
        (folder / "generation_config.json").unlink(missing_ok=True)
        save_file(arrays(results(name, model, 40)), folder / "expected.safetensors")


def difference(got: np.ndarray, want: np.ndarray, mask) -> float:
    """Over the places that are no padding."""
    if mask is not None and got.ndim == 3 and got.shape[:2] == mask.shape:
        got, want = got[mask > 0], want[mask > 0]
    return float(np.abs(got - want).max())


def compare(name: str, make, vocab: int, folder: Path) -> list[float]:
    import mycel
    from mycel import models as ours

    torch.manual_seed(2)
    model = randomized(make())
    model.save_pretrained(folder / "theirs")
    want = arrays(results(name, model, vocab))
    mask = want.get("attention_mask") if not name.startswith("t5") else None
    net = ours.load(folder / "theirs")
    figures = []
    for mode in (mycel.PYNATIVE_MODE, mycel.GRAPH_MODE):
        mycel.set_context(mode=mode)
        y = call(net, name, {k: mycel.Tensor(v) for k, v in want.items()})
        figures.append(difference(y, want["result"], mask))
    mycel.set_context(mode=mycel.PYNATIVE_MODE)
    if "generated" in want:
        ids = mycel.Tensor(want["input_ids"])
        if name.startswith("t5"):
            made = net.generate(ids, mycel.Tensor(want["attention_mask"]), 6)
        else:
            made = net.generate(ids, 6)
        figures.append(float((made.asnumpy() != want["generated"]).sum()))
    else:
        figures.append(0.0)
    ours.save(net, folder / "ours", max_shard_size=20_000)
    assert (folder / "ours" / "model.safetensors.index.json").exists()
    back = type(model).from_pretrained(folder / "ours")
    again = arrays(results(name, back.eval(), vocab))
    figures.append(difference(again["result"], want["result"], mask))
    # 16-bit files: values are the rounded ones.
    half = randomized(make()).to(torch.bfloat16)
    half.save_pretrained(folder / "half")
    kept = ours.load(folder / "half", dtype="auto")
    assert all("bfloat16" in str(p.dtype).lower() for p in kept.get_parameters())
    wide = ours.load(folder / "half")
    y = call(wide, name, {k: mycel.Tensor(v) for k, v in want.items()})
    # Read again, as their conversion would round the frequencies of rotary positions too.
    half = type(half).from_pretrained(folder / "half", dtype=torch.float32).eval()
    figures.append(difference(y, arrays(results(name, half, vocab))["result"], mask))
    return figures


def call(net, name: str, x: dict) -> np.ndarray:
    if name == "vit":
        y = net(x["pixel_values"])
    elif name.startswith("t5"):
        y = net(x["input_ids"], x["decoder_input_ids"], x["attention_mask"])
    else:
        y = net(x["input_ids"], x["attention_mask"])
    return (y[0] if isinstance(y, tuple) else y).asnumpy()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--golden", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.golden:
        write_golden()
        return 0
    bad = 0
    print(f"{'model':14} {'eager':>9} {'graph':>9} {'tokens':>7} {'back':>9} {'bf16':>9}")
    for name, make in models(64, 3, 200).items():
        if options.names and name not in options.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            f = compare(name, make, 200, Path(folder))
        bad += any(not x <= TOLERANCE for x in f)
        print(f"{name:14} {f[0]:9.1e} {f[1]:9.1e} {f[2]:7.0f} {f[3]:9.1e} {f[4]:9.1e}", flush=True)
    print(json.dumps({"transformers": tf.__version__, "failed": bad}))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
