"""Networks of published checkpoints: small ones with random weights and what `transformers` makes
of them lie in data/huggingface (tools/huggingface_parity.py --golden)."""

import json
import os
import pathlib
import shutil

import mycel as ms
import numpy as np
import pytest
from mycel import models
from safetensors.numpy import load_file, save_file

DATA = pathlib.Path(__file__).parent / "data" / "huggingface"
NAMES = sorted(p.name for p in DATA.iterdir())


def run(net, x):
    t = {k: ms.Tensor(v) for k, v in x.items()}
    if "pixel_values" in t:
        y = net(t["pixel_values"])
    elif "decoder_input_ids" in t:
        y = net(t["input_ids"], t["decoder_input_ids"], t["attention_mask"])
    else:
        y = net(t["input_ids"], t["attention_mask"])
    return (y[0] if isinstance(y, tuple) else y).asnumpy()


def check(name, y, x):
    want, mask = x["result"], x.get("attention_mask")
    if y.ndim == 3 and mask is not None and y.shape[:2] == mask.shape:
        y, want = y[mask > 0], want[mask > 0]
    assert np.abs(want).max() > 0.1
    np.testing.assert_allclose(y, want, atol=1e-4, rtol=0, err_msg=name)


@pytest.mark.parametrize("name", NAMES)
def test_results_are_those_of_transformers(name):
    x = load_file(DATA / name / "expected.safetensors")
    check(name, run(models.load(DATA / name), x), x)


@pytest.mark.one_mode("decoding runs the network step by step")
@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith(("bert", "vit"))])
def test_greedy_tokens_are_those_of_transformers(name):
    x = load_file(DATA / name / "expected.safetensors")
    net = models.load(DATA / name)
    ids = ms.Tensor(x["input_ids"])
    if name.startswith("t5"):
        made = net.generate(ids, ms.Tensor(x["attention_mask"]), 6)
    else:
        made = net.generate(ids, 6)
    np.testing.assert_array_equal(made.asnumpy(), x["generated"])


@pytest.mark.one_mode("files")
@pytest.mark.parametrize("name", NAMES)
def test_saved_files_hold_the_same_entries(name, tmp_path):
    models.save(models.load(DATA / name), tmp_path, max_shard_size=5000)
    index = json.loads((tmp_path / "model.safetensors.index.json").read_text())
    written = {}
    for shard in set(index["weight_map"].values()):
        written.update(load_file(tmp_path / shard))
    theirs = load_file(DATA / name / "model.safetensors")
    assert set(written) == set(theirs)
    for key, value in theirs.items():
        np.testing.assert_array_equal(written[key], value)
    config = json.loads((tmp_path / "config.json").read_text())
    assert (
        config["architectures"]
        == json.loads((DATA / name / "config.json").read_text())["architectures"]
    )
    x = load_file(DATA / name / "expected.safetensors")
    check(name, run(models.load(tmp_path), x), x)


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(DATA / "llama", tmp_path / "llama")
    return tmp_path / "llama"


def rewritten(folder, change):
    path = folder / "model.safetensors"
    entries = load_file(path)
    change(entries)
    save_file(entries, path)


@pytest.mark.one_mode("files")
@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda e: e.pop("model.norm.weight"), "entries are missing: model.norm.weight"),
        (
            lambda e: e.update(extra=np.zeros(1, np.float32)),
            "unexpected entries: extra",
        ),
        (
            lambda e: e.update({"model.norm.weight": np.zeros(3, np.float32)}),
            r"'model.norm.weight' has the shape \(3,\); the config says \(16,\)",
        ),
    ],
)
def test_entries_that_do_not_fit_are_named(folder, change, text):
    rewritten(folder, change)
    with pytest.raises(ValueError, match=text):
        models.load(folder)


@pytest.mark.one_mode("files")
def test_files_outside_of_the_folder_are_refused(folder, tmp_path):
    outside = tmp_path / "outside.safetensors"
    shutil.move(folder / "model.safetensors", outside)
    names = list(load_file(outside))
    for shard in ("../outside.safetensors", str(outside), ".."):
        index = {"weight_map": dict.fromkeys(names, shard)}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
        with pytest.raises(ValueError, match="no name of a file in the folder"):
            models.load(folder)
    os.symlink(outside, folder / "model.safetensors")
    with pytest.raises(ValueError, match="a link that leads out of the folder"):
        models.load(folder)


@pytest.mark.one_mode("configurations")
def test_what_is_not_supported_is_named():
    with pytest.raises(NotImplementedError, match="the architecture 'OPTForCausalLM' is not here"):
        models.from_config({"architectures": ["OPTForCausalLM"]})
    with pytest.raises(NotImplementedError, match="is_decoder = True is not supported"):
        models.from_config({"is_decoder": True}, "BertModel")
    with pytest.raises(NotImplementedError, match="the activation 'snake' is not supported"):
        models.from_config({"hidden_act": "snake", "num_hidden_layers": 1}, "BertModel")


@pytest.mark.one_mode("files")
def test_sixteen_bits_are_kept_or_widened(folder):
    half = {k: v.astype(np.float16) for k, v in load_file(folder / "model.safetensors").items()}
    save_file(half, folder / "model.safetensors")
    kept = models.load(folder, dtype="auto")
    assert {p.dtype for p in kept.get_parameters()} == {ms.float16}
    wide = models.load(folder)
    assert {p.dtype for p in wide.get_parameters()} == {ms.float32}
    np.testing.assert_array_equal(
        wide.model.norm.weight.asnumpy(), half["model.norm.weight"].astype(np.float32)
    )
