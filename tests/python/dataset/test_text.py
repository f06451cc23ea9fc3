# ruff: noqa: E501
"""Transforms of text against the published framework and the `tokenizers` package, whose results
lie in text_golden.json (tools/make_text_golden.py); strings and ids are equal, not near."""

import json
import pickle
from pathlib import Path

import mycel
import mycel.dataset as ds
import numpy as np
import pytest
from mycel.dataset import text

GOLDEN = json.loads((Path(__file__).parent / "text_golden.json").read_text())


def made(name, options):
    arguments = dict(options)
    if "vocab" in arguments:
        arguments["vocab"] = text.Vocab.from_list(arguments["vocab"])
    if "data_type" in arguments:
        arguments["data_type"] = getattr(mycel, arguments["data_type"])
    return getattr(text, name)(**arguments)


@pytest.mark.parametrize("name", sorted({c[0] for c in GOLDEN["mindspore"]}))
def test_as_published(name):
    for _, options, given, expected in (c for c in GOLDEN["mindspore"] if c[0] == name):
        got = made(name, options)(*[np.array(v) for v in given])
        got = got if isinstance(got, tuple) else (got,)
        expected = expected if isinstance(expected, list) else [expected]
        assert len(got) == len(expected), (options, given)
        for g, e in zip(got, expected, strict=True):
            kind = "str" if g.dtype.kind == "U" else str(g.dtype)
            assert (kind, list(g.shape)) == (e["dtype"], e["shape"]), (options, given)
            if g.size:
                assert g.ravel().tolist() == e["values"], (options, given)


@pytest.mark.parametrize(
    "name, model, found", GOLDEN["tokenizers"], ids=lambda v: v if isinstance(v, str) else ""
)
def test_byte_pairs(name, model, found, tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(model))
    ids = text.ByteLevelBPETokenizer(str(path))
    tokens = text.ByteLevelBPETokenizer(str(path), out_type=text.SPieceTokenizerOutType.STRING)
    for given, expected_ids, expected_tokens in found:
        for _ in range(2):  # the second time from the cache
            assert ids(given).tolist() == expected_ids, given
        assert tokens(given).tolist() == expected_tokens, given


@pytest.fixture
def jieba_files(tmp_path):
    (tmp_path / "dict").write_text(GOLDEN["jieba"]["dictionary"])
    (tmp_path / "hmm").write_text(GOLDEN["jieba"]["model"])
    return tmp_path / "hmm", tmp_path / "dict"


def test_jieba(jieba_files):
    Mode = text.JiebaMode
    for mode, words, given, expected in GOLDEN["jieba"]["cases"]:
        t = text.JiebaTokenizer(*jieba_files, Mode[mode], with_offsets=True)
        t.add_dict(words)
        for g, e in zip(t(given), expected, strict=True):
            assert g.tolist() == e["values"], (mode, words, given)
    again = pickle.loads(pickle.dumps(t))
    assert again("小明研究杭州")[0].tolist() == t("小明研究杭州")[0].tolist()


def test_jieba_dictionary_of_the_user(jieba_files, tmp_path):
    (tmp_path / "user").write_text("来到北京 900\n\n清华\n")
    t = text.JiebaTokenizer(*jieba_files, text.JiebaMode.MP)
    assert t("我来到北京").tolist() == ["我", "来到", "北京"]
    t.add_dict(tmp_path / "user")
    assert t("我来到北京").tolist() == ["我", "来到北京"]
    d = ds.NumpySlicesDataset({"t": ["我来到北京"]}, shuffle=False).map(t, "t")
    assert next(d.create_tuple_iterator(output_numpy=True))[0].tolist() == ["我", "来到北京"]


def test_jieba_refuses(jieba_files, tmp_path):
    hmm, words = jieba_files
    (tmp_path / "bad").write_text("word\n")
    with pytest.raises(OSError, match="cannot read"):
        text.JiebaTokenizer(tmp_path / "none", words)
    with pytest.raises(ValueError, match="line 1: expected 'word count tag'"):
        text.JiebaTokenizer(hmm, tmp_path / "bad")
    with pytest.raises(ValueError, match="a hidden Markov model has 9"):
        text.JiebaTokenizer(tmp_path / "bad", words)
    with pytest.raises(ValueError, match="must be a str that is not empty"):
        text.JiebaTokenizer(hmm, words).add_word("")
    with pytest.raises(ValueError, match="must be an int of 0 or more"):
        text.JiebaTokenizer(hmm, words).add_word("a", -1)


def test_byte_pairs_of_vocab_and_merges(tmp_path):
    _, model, found = GOLDEN["tokenizers"][0]
    (tmp_path / "vocab.json").write_text(json.dumps(model["model"]["vocab"]))
    merges = [m if isinstance(m, str) else " ".join(m) for m in model["model"]["merges"]]
    (tmp_path / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n")
    t = text.ByteLevelBPETokenizer(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    back = text.ByteLevelBPEDecoder(t)
    for given, ids, _ in found:
        if "<s>" in given or "</s>" in given:
            continue  # no added tokens here
        assert t(given).tolist() == ids, given
        assert str(back(t(given))) == given


def test_byte_pairs_offsets(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(GOLDEN["tokenizers"][0][1]))
    t = text.ByteLevelBPETokenizer(str(path), with_offsets=True)
    given = "There, naïve日本<s> speak!"
    ids, starts, limits = t(given)
    raw = given.encode()
    assert starts[0] == 0 and limits[-1] == len(raw)
    assert (starts[1:] == limits[:-1]).all()
    back = text.ByteLevelBPEDecoder(
        text.ByteLevelBPETokenizer(str(path)), skip_special_tokens=False
    )
    for i in range(len(ids)):
        piece = raw[starts[i] : limits[i]]
        assert str(back(ids[i : i + 1])).encode("utf-8", "surrogateescape") == piece


def test_transforms_with_choices_travel_to_processes():
    t = pickle.loads(pickle.dumps(text.NormalizeUTF8(text.NormalizeForm.NFC)))
    assert str(t("e\u0301")) == "é"


def test_special_tokens_stay_whole_when_folded():
    t = text.BasicTokenizer(lower_case=True)
    assert t("[CLS] A [UNK]Wor-LD").tolist() == ["[CLS]", "a", "[UNK]", "wor", "-", "ld"]


def test_regex_replace_keeps_strings_apart():
    assert text.RegexReplace(r"\s+", "_")(np.array(["a  b", "c"])).tolist() == ["a_b", "c"]


def test_vocab(tmp_path):
    v = text.Vocab.from_list(["a", "b"], special_tokens=["<p>"], special_first=False)
    assert v.vocab() == {"a": 0, "b": 1, "<p>": 2}
    assert v.tokens_to_ids("b") == 1 and v.tokens_to_ids(["a", "zz"]) == [0, -1]
    assert v.ids_to_tokens(2) == "<p>" and v.ids_to_tokens([0, 7]) == ["a", ""]
    assert v.tokens_to_ids([]) == [] and v.ids_to_tokens([]) == []
    assert pickle.loads(pickle.dumps(v)).vocab() == v.vocab()
    assert text.Vocab.from_dict({"a": 3, "b": 3}).tokens_to_ids(["a", "b"]) == [3, 3]
    path = tmp_path / "v.txt"
    path.write_text("apple,1\nbanana, 333\n\ncat,00\n")
    assert text.Vocab.from_file(path, ",", 2, ["<u>"]).vocab() == {
        "<u>": 0,
        "apple": 1,
        "banana": 2,
    }
    assert list(text.Vocab.from_file(path).vocab()) == ["apple,1", "banana, 333", "", "cat,00"]
    for words, special in [(["a", "a"], None), (["a"], ["a"])]:
        with pytest.raises(ValueError, match="'a' is there twice"):
            text.Vocab.from_list(words, special)
    with pytest.raises(ValueError, match="must be in"):
        text.Vocab.from_dict({"a": -1})
    with pytest.raises(OSError, match="cannot read"):
        text.Vocab.from_file(tmp_path / "none")
    with pytest.raises(RuntimeError, match="no words"):
        text.Vocab().vocab()


def test_vocab_of_dataset():
    data = {"t": [["a", "b"], ["b", "c"], ["b", "a"], ["d", "e"]], "n": ["x", "y", "x", "x"]}
    d = ds.NumpySlicesDataset(data, shuffle=False)
    of = text.Vocab.from_dataset
    assert list(of(d, "t").vocab()) == ["b", "a", "c", "d", "e"]
    assert list(of(d).vocab()) == ["b", "x", "a", "c", "d", "e", "y"]
    assert list(of(d, ["t"], freq_range=(2, 3)).vocab()) == ["b", "a"]
    assert list(of(d, "t", freq_range=(None, 1)).vocab()) == ["c", "d", "e"]
    assert list(of(d, "t", top_k=2, special_tokens=["<p>"]).vocab()) == ["<p>", "b", "a"]
    with pytest.raises(ValueError, match="among the words"):
        of(d, "t", special_tokens=["a"])
    with pytest.raises(TypeError, match="columns of strings"):
        of(ds.NumpySlicesDataset({"n": [1, 2]}), "n")
    looked_up = d.map(text.Lookup(of(d, "t")), "t").project("t")
    assert [r[0].tolist() for r in looked_up.create_tuple_iterator(output_numpy=True)][0] == [1, 0]


def test_vectors(tmp_path):
    def file(name, content):
        (tmp_path / name).write_text(content)
        return tmp_path / name

    words = np.array(["apple", "Apple", "zz"])
    for content in [
        "apple 1 2\nbanana 3 4\n",
        "2 2\napple 1 2\nbanana 3 4\n",
        "apple 1 2\napple 3 4\n",
    ]:
        v = text.Vectors.from_file(file("v.txt", content))
        assert text.ToVectors(v)(words).tolist() == [[1, 2], [0, 0], [0, 0]]
        assert text.ToVectors(v, [7, 8.5], True)(words).tolist() == [[1, 2], [1, 2], [7, 8.5]]
        assert text.ToVectors(v)("apple").tolist() == [1, 2]
    one = text.Vectors.from_file(file("v.txt", "apple 1 2\nbanana 3 4\n"), 1)
    assert text.ToVectors(one)(np.array(["banana"])).tolist() == [[0, 0]]
    glove = text.GloVe.from_file(file("glove.6B.2d.txt", "apple 1 2\n"))
    fast = text.FastText.from_file(file("v.vec", "1 2\napple 1 2\n"))
    assert (
        text.ToVectors(pickle.loads(pickle.dumps(glove)))(words).tolist()
        == text.ToVectors(fast)(words).tolist()
    )
    grams = "2gram-ab 5 6\n2gram-#BEGIN#a 7 8\n3gram-#BEGIN#ab 9 10\n2gram-b#END# 3 3\n4gram-#BEGIN#ab#END# 100 100\n"
    to = text.ToVectors(text.CharNGram.from_file(file("c.txt", grams)))
    np.testing.assert_allclose(
        to(np.array(["ab", "b", "zz"])), [[24.8, 25.4], [3, 3], [0, 0]], rtol=1e-6
    )
    for content, words in [
        ("a 1 2\nb 3\n", "numbers, those before"),
        ("a 1 x\n", "not a number"),
        ("", "no vectors"),
    ]:
        with pytest.raises(ValueError, match=words):
            text.Vectors.from_file(file("bad.txt", content))
    with pytest.raises(ValueError, match="glove.6B"):
        text.GloVe.from_file(file("v.txt", "a 1\n"))
    with pytest.raises(OSError, match="cannot read"):
        text.Vectors.from_file(tmp_path / "none")
    with pytest.raises(ValueError, match="'unk_init' must be 2 numbers"):
        text.ToVectors(one, [1.0])
    with pytest.raises(TypeError, match="'vectors' must be Vectors"):
        text.ToVectors(text.Vocab.from_list(["a"]))


def test_sentencepiece(tmp_path):
    lines = ["the cat sat on the mat", "a cat and a dog", "the dog sat", "on and on the cat"] * 30
    (tmp_path / "t.txt").write_text("\n".join(lines))
    Kind, Out = text.SentencePieceModel, text.SPieceTokenizerOutType
    from_file = text.SentencePieceVocab.from_file(tmp_path / "t.txt", 22, 1.0, Kind.UNIGRAM, {})
    d = ds.NumpySlicesDataset({"t": lines}, shuffle=False)
    from_rows = text.SentencePieceVocab.from_dataset(d, ["t"], 22, 1.0, Kind.UNIGRAM, {})
    text.SentencePieceVocab.save_model(from_file, tmp_path, "m.model")
    given = "the cat and the mat"
    pieces = text.SentencePieceTokenizer(from_file, Out.STRING)(given)
    assert "".join(pieces).replace("▁", " ").strip() == given
    for model in (from_rows, str(tmp_path / "m.model")):
        assert text.SentencePieceTokenizer(model, Out.STRING)(given).tolist() == pieces.tolist()
    ids = text.SentencePieceTokenizer(from_file, Out.INT)
    assert ids(given).dtype == np.int32 and ids(given).shape == pieces.shape
    assert ids("").shape == (0,)


def test_sentencepiece_refuses(tmp_path):
    (tmp_path / "t.txt").write_text("a b\n")
    Kind, Out = text.SentencePieceModel, text.SPieceTokenizerOutType
    train = text.SentencePieceVocab.from_file
    with pytest.raises(ValueError, match="cannot be trained"):
        train([tmp_path / "t.txt"], 5000, 0.9995, Kind.UNIGRAM, {})
    with pytest.raises(ValueError, match="'character_coverage' must be in"):
        train([tmp_path / "t.txt"], 50, 0.9, Kind.UNIGRAM, {})
    with pytest.raises(OSError, match="cannot read"):
        train([tmp_path / "none"], 50, 1.0, Kind.UNIGRAM, {})
    with pytest.raises(ValueError, match="not a model"):
        text.SentencePieceTokenizer(str(tmp_path / "t.txt"), Out.INT)
    with pytest.raises(TypeError, match="must be a SentencePieceVocab or the path"):
        text.SentencePieceTokenizer(3, Out.INT)


def test_python_tokenizer_and_bytes():
    t = text.PythonTokenizer(str.split)
    assert t(np.array("a b c")).tolist() == ["a", "b", "c"]
    assert t(np.array(["a b", "c d"])).tolist() == [["a", "b"], ["c", "d"]]
    with pytest.raises(TypeError, match="NumPy array"):
        t("a b")
    with pytest.raises(TypeError, match="must be a function"):
        text.PythonTokenizer(3)
    both = np.array(["a", "é"])
    assert text.to_bytes(both).tolist() == [b"a", "é".encode()]
    assert text.to_str(text.to_bytes(both)).tolist() == both.tolist()
    d = ds.NumpySlicesDataset({"t": ["x y", "z w"]}, shuffle=False).map(t, "t")
    assert [r[0].tolist() for r in d.create_tuple_iterator(output_numpy=True)] == [
        ["x", "y"],
        ["z", "w"],
    ]


def test_offsets_are_columns_of_a_pipeline():
    d = ds.NumpySlicesDataset({"t": ["a bc", "d"]}, shuffle=False)
    d = d.map(text.WhitespaceTokenizer(True), ["t"], ["token", "start", "limit"])
    rows = list(d.create_dict_iterator(output_numpy=True))
    assert rows[0]["token"].tolist() == ["a", "bc"] and rows[0]["limit"].tolist() == [1, 4]


ONE_STRING = [
    text.WhitespaceTokenizer(), text.UnicodeCharTokenizer(), text.UnicodeScriptTokenizer(),
    text.BasicTokenizer(), text.RegexTokenizer(" "),
    text.BertTokenizer(text.Vocab.from_list(["a"])),
]  # fmt: skip
STRINGS = [
    text.CaseFold(),
    text.NormalizeUTF8(),
    text.FilterWikipediaXML(),
    text.RegexReplace("a", "b"),
]


@pytest.mark.parametrize("transform", ONE_STRING + STRINGS, ids=repr)
def test_bad_texts(transform):
    name = type(transform).__name__
    for bad in (b"\xff\xfe a", b"abc\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80"):
        with pytest.raises(ValueError, match=f"{name}: the text of .* is not UTF-8: byte"):
            transform(bad)
    with pytest.raises(TypeError, match=f"{name}: expected strings, got int64"):
        transform(np.array([3]))


@pytest.mark.parametrize("transform", ONE_STRING, ids=repr)
def test_one_string_only(transform):
    with pytest.raises(ValueError, match="expected one string, got strings"):
        transform(np.array(["a b"]))


@pytest.mark.parametrize(
    "make, kind, words",
    [
        (lambda: text.RegexReplace("(", "x"), ValueError, "not a regular expression of ICU"),
        (lambda: text.RegexReplace("a", "$3")("a"), ValueError, "cannot replace"),
        (lambda: text.Ngram([]), ValueError, "'n' must be"),
        (lambda: text.Ngram(0), ValueError, "must be positive, got 0"),
        (lambda: text.Ngram(2, ("a", -1)), ValueError, "width of 0 or more"),
        (lambda: text.Ngram(2, "a"), ValueError, r"must be \(token, width\)"),
        (lambda: text.Ngram(2)("a"), ValueError, "list of strings"),
        (lambda: text.SlidingWindow(0), ValueError, "must be positive"),
        (lambda: text.SlidingWindow(1, 1)([1, 2]), ValueError, "no axis 1"),
        (lambda: text.SlidingWindow(1)([[1, 2]]), ValueError, "expected 1 dim"),
        (lambda: text.Truncate(0), ValueError, "must be positive"),
        (lambda: text.Truncate(2)("a"), ValueError, "1 or 2 dims"),
        (lambda: text.TruncateSequencePair(4)([1]), ValueError, "two columns"),
        (lambda: text.TruncateSequencePair(4)([[1]], [2]), ValueError, "1 dim"),
        (lambda: text.TruncateSequencePair(-1), ValueError, "negative"),
        (lambda: text.AddToken("t")("a"), ValueError, "1 or 2 dims"),
        (lambda: text.AddToken("t")([1]), TypeError, "expected strings"),
        (lambda: text.ToNumber(mycel.int8)(["128"]), ValueError, "out of the range of int8"),
        (lambda: text.ToNumber(mycel.uint8)(["-1"]), ValueError, "not a number of type uint8"),
        (lambda: text.ToNumber(mycel.int32)(["1.5"]), ValueError, "not a number of type int32"),
        (lambda: text.ToNumber(mycel.int32)([""]), ValueError, "not a number"),
        (lambda: text.ToNumber(mycel.float16)(["65520"]), ValueError, "out of the range of float16"),
        (lambda: text.ToNumber(mycel.float64)(["1e400"]), ValueError, "out of the range of float64"),
        (lambda: text.ToNumber(mycel.bool_), TypeError, "ints or floats"),
        (lambda: text.Lookup("vocab"), TypeError, "'vocab' must be a transform"),
        (lambda: text.Lookup(text.CaseFold()), TypeError, "'vocab' must be a Vocab"),
        (lambda: text.Lookup(text.Vocab.from_list(["a"]), "u"), ValueError, "'u', which is not in the"),
        (lambda: text.Lookup(text.Vocab.from_list(["a"]))(["z"]), ValueError, "'z' is not in the vocabulary"),
        (lambda: text.ByteLevelBPETokenizer("none"), OSError, "cannot read 'none'"),
    ],
)  # fmt: skip
def test_refusals(make, kind, words):
    with pytest.raises(kind, match=words):
        make()


@pytest.mark.parametrize(
    "change, kind, words",
    [
        ({"model": {"type": "WordPiece"}}, NotImplementedError, "the model 'WordPiece'"),
        ({"normalizer": {"type": "Lowercase"}}, NotImplementedError, "the normalizer 'Lowercase'"),
        ({"pre_tokenizer": {"type": "Metaspace"}}, NotImplementedError, "pre-tokenizer 'Metaspace'"),
        ({"post_processor": {"type": "X"}}, NotImplementedError, "post-processor 'X'"),
        ({"model": {"type": "BPE", "vocab": {}, "merges": ["a b"]}}, ValueError, "a merge names 'a'"),
        ({"model": {"type": "BPE", "dropout": 0.1}}, NotImplementedError, "'dropout'"),
        ({"model": {"type": "BPE", "vocab": {"a": "x"}, "merges": []}}, ValueError, "not as it should be"),
    ],
)  # fmt: skip
def test_byte_pairs_refuse(change, kind, words, tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({**GOLDEN["tokenizers"][0][1], **change}))
    with pytest.raises(kind, match=words):
        text.ByteLevelBPETokenizer(str(path))
    path.write_text("{")
    with pytest.raises(ValueError, match="not JSON"):
        text.ByteLevelBPETokenizer(str(path))
