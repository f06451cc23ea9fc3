# ruff: noqa: E501
"""Writes tests/python/dataset/text_golden.json: what the published framework (mindspore 2.0.0) and
the `tokenizers` package give for the cases below.

    python tools/make_text_golden.py mindspore     the transforms
    python tools/make_text_golden.py tokenizers    byte pairs

Each keeps the other's part. Cases that the published framework gets wrong are not among them;
docs/transforms.md names them."""

import json
import random
import sys
import tempfile
from pathlib import Path

OUT = Path(__file__).resolve().parent.parent / "tests" / "python" / "dataset" / "text_golden.json"
VOCAB = ["book", "cholera", "era", "favor", "##ite", "my", "is", "love", "dur", "##ing", "the",
         "[UNK]", "我", "北", "##京", "[CLS]", "fa", "##vor"]  # fmt: skip
TEXTS = ["Welcome  to\tBeijing北京! ", "", "   ", "a", "ａ１é", "Çafé ÀÉ ﬁ İ", "UNwanted\u00e9 [ CLS]",
         "hello, 世界！ 123 Привет こんにちはカタカナ漢字 a1b2 é😀x", "a\u0300b 今天天气太好了，hello",
         "punc a$b^c`d~e+f=g<h>i|j·k、l。m—n…€x©y", "ctl a\u200bc\ufffdd\te\rf\u00a0g\u3000h",
         "ab漢字カナ한국x𠀀y \u2028 z"]  # fmt: skip
BOTH = [{"with_offsets": False}, {"with_offsets": True}]


def cases():
    for text in TEXTS:
        for k in BOTH:
            yield "WhitespaceTokenizer", k, text
            yield "UnicodeCharTokenizer", k, text
            yield "UnicodeScriptTokenizer", {"keep_whitespace": True, **k}, text
            yield "UnicodeScriptTokenizer", k, text
        for lower in (False, True):
            for keep in (False, True):
                options = {"lower_case": lower, "keep_whitespace": keep, "with_offsets": True}
                yield "BasicTokenizer", options, text
        for form in ("NFC", "NFKC", "NFD", "NFKD"):
            options = {"normalization_form": form, "with_offsets": True}
            yield "BasicTokenizer", options, text
            yield "NormalizeUTF8", {"normalize_form": form}, text
        yield "CaseFold", {}, text
        for d, k in [
            (r"\s+", ""),
            (r"\s+", r"\s+"),
            ("[ |,]", ","),
            (r"\p{P}", r"\p{P}|\s"),
            ("", ""),
        ]:
            yield (
                "RegexTokenizer",
                {"delim_pattern": d, "keep_delim_pattern": k, "with_offsets": True},
                text,
            )
    special = "[CLS] unused [unused1] [UNK]wor-ld [unused10]x [unusedx] [MASK]"
    yield "BasicTokenizer", {"with_offsets": True}, special
    yield "BasicTokenizer", {"preserve_unused_token": False, "with_offsets": True}, special
    yield "RegexReplace", {"pattern": r"(\w)(\w)", "replace": "$2$1", "replace_all": False}, "ab cd"
    yield "RegexReplace", {"pattern": r"\s+", "replace": "_"}, "a  b c"
    for text in ["a <b> c\nd <e> f", "a & b; c", "x <b> y > z &lt;q&gt; w", "a #REDIRECT b", "Ünï 2020",
                 "[[image:pic.png|left|A caption]] {{c}}", "<text>ab</text> out"]:  # fmt: skip
        yield "FilterWikipediaXML", {}, text
    yield (
        "Ngram",
        {"n": [3, 2], "left_pad": ["_", 2], "right_pad": ["*", 1], "separator": "-"},
        ["a", "b", "c"],
    )
    yield "Ngram", {"n": 3}, ["a", "b"]
    for width in (2, 7):
        yield "SlidingWindow", {"width": width}, [1, 2, 3, 4, 5]
        yield "SlidingWindow", {"width": width}, ["a", "b", "c"]
    yield "Truncate", {"max_seq_len": 2}, [[1, 2, 3], [4, 5, 6]]
    yield "Truncate", {"max_seq_len": 2}, ["a", "b", "c"]
    yield "AddToken", {"token": "T", "begin": False}, ["a"]
    yield "AddToken", {"token": "T"}, [["a", "b"], ["c", "d"]]
    for most in range(7):
        yield "TruncateSequencePair", {"max_length": most}, ([1, 2, 3], [4, 5])
        yield "TruncateSequencePair", {"max_length": most}, (["1", "2"], ["3", "4", "5", "6"])
    for word in ["my", "favorite", "book", "我", "北京", ""]:
        yield "WordpieceTokenizer", {"vocab": VOCAB, "with_offsets": True}, word
    words = ["my", "duringx", "北x", "favorite"]
    for k in [{}, {"unknown_token": ""}, {"max_bytes_per_token": 4}]:
        yield "WordpieceTokenizer", {"vocab": VOCAB, **k}, words
    for text in [
        "my favorite book is love during the cholera era.",
        "我爱 北京",
        "[CLS] My [UNK]",
        "",
    ]:
        for k in [{}, {"keep_whitespace": True}, {"unknown_token": ""}]:
            yield "BertTokenizer", {"vocab": VOCAB, "with_offsets": True, **k}, text
    yield "Lookup", {"vocab": VOCAB, "unknown_token": "[UNK]"}, [["my", "zz"]]
    for dtype, strings in [
        ("int8", ["1", "-128"]),
        ("float32", ["1.5", " 2e3 "]),
        ("float16", ["0.1"]),
    ]:
        yield "ToNumber", {"data_type": dtype}, strings


DICTIONARY = """我 300 r
来到 200 v
北京 250 ns
清华 80 nz
大学 120 n
清华大学 60 nt
北 20 f
京 5 j
他 400 r
是 900 v
的 1000 u
学生 150 n
学 40 v
生 30 v
生活 90 n
中国 200 ns
"""
MODEL = """# begins, ends, middles, single characters
-0.26 -3.14e+100 -3.14e+100 -1.46
-3.14e+100 -0.51 -0.91 -3.14e+100
-0.58 -3.14e+100 -3.14e+100 -0.80
-3.14e+100 -0.33 -1.26 -3.14e+100
-0.72 -3.14e+100 -3.14e+100 -0.66
小:-4.1,明:-5.2,杭:-6.0,研:-5.5,网:-6.1,我:-7.0
明:-4.4,州:-4.9,究:-5.0,易:-5.1,了:-6.2,我:-8.0
州:-7.1,究:-6.9,京:-6.5
他:-3.9,了:-3.1,在:-3.0,我:-3.5,大:-5.2,厦:-6.6
"""
SENTENCES = ["我来到北京清华大学", "他是中国的大学生", "小明研究杭州网易大厦", "我在 GPT4 v1.5，他来到了。北京abc12 3.14元", "a", " ",
             "他说的确实在理生活学生我我我", "小明\t他\n是😀的"]  # fmt: skip


def jieba_cases():
    for mode in ("MIX", "MP", "HMM"):
        for words in ({}, {"来到北京": None, "研究": 500, "大厦": 3}):
            for text in SENTENCES:
                yield mode, words, text


def from_jieba(folder):
    """Of the published framework again, with a dictionary and a model of its own."""
    from mindspore.dataset import text

    (folder / "dict").write_text(DICTIONARY)
    (folder / "hmm").write_text(MODEL)
    out = []
    for mode, words, given in jieba_cases():
        t = text.JiebaTokenizer(
            str(folder / "hmm"), str(folder / "dict"), text.JiebaMode[mode], True
        )
        for word, count in words.items():
            t.add_word(word, count)
        out.append([mode, words, given, plain(t(given))])
    return {"dictionary": DICTIONARY, "model": MODEL, "cases": out}


def plain(value):
    if isinstance(value, tuple):
        return [plain(v) for v in value]
    kind = "str" if value.dtype.kind == "U" else str(value.dtype)
    return {"dtype": kind, "shape": list(value.shape), "values": value.ravel().tolist()}


def from_mindspore():
    import mindspore
    import numpy as np
    from mindspore.dataset import text

    out = []
    for name, options, given in cases():
        arguments = dict(options)
        if "vocab" in arguments:
            arguments["vocab"] = text.Vocab.from_list(arguments["vocab"])
        for form in ("normalization_form", "normalize_form"):
            if form in arguments:
                arguments[form] = text.NormalizeForm[arguments[form]]
        if "data_type" in arguments:
            arguments["data_type"] = getattr(mindspore, arguments["data_type"])
        for pad in ("left_pad", "right_pad"):
            if pad in arguments:
                arguments[pad] = tuple(arguments[pad])
        values = given if isinstance(given, tuple) else (given,)
        result = getattr(text, name)(**arguments)(*[np.array(v) for v in values])
        out.append([name, options, list(values), plain(result)])
    return out


def from_tokenizers():
    from tokenizers import (
        Regex,
        Tokenizer,
        models,
        normalizers,
        pre_tokenizers,
        processors,
        trainers,
    )

    rng = random.Random(1)
    words = [
        "the",
        "There",
        "don't",
        "we'LL",
        " it's",
        "hear",
        "me",
        "speak",
        "Zürich",
        "日本",
        "naïve",
        "2024",
        "x",
    ]
    train = [" ".join(rng.choice(words) for _ in range(8)) + "\n" for _ in range(400)]
    alphabet = "abXY 012 \n\t  '''stTlLvVreE.,!é日本한😀ſ\u0301\u00a0½٣<s></s>"
    texts = [*TEXTS, "<s>", "I'll don'T we'Ve</s>x", "ab" * 200, "a" * 300]
    texts += ["".join(rng.choice(alphabet) for _ in range(rng.randint(1, 40))) for _ in range(60)]
    gpt4 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
            r"|\s*[\r\n]+|\s+(?!\S)|\s+")  # fmt: skip
    byte_level = pre_tokenizers.ByteLevel
    kinds = {
        "gpt2": byte_level(add_prefix_space=False),
        "prefix": byte_level(add_prefix_space=True),
        "gpt4": gpt4,
        "digit": gpt4.replace("{1,3}", ""),
        "other": r"\p{Lu}\p{Ll}*|\s+",
    }
    out = []
    for name, words_of in kinds.items():
        t = Tokenizer(models.BPE(ignore_merges=name == "gpt4"))
        if isinstance(words_of, str):
            split = pre_tokenizers.Split(Regex(words_of), "isolated")
            t.normalizer = normalizers.NFC()
            words_of = pre_tokenizers.Sequence(
                [split, byte_level(add_prefix_space=False, use_regex=False)]
            )
        t.pre_tokenizer = words_of
        trainer = trainers.BpeTrainer(
            vocab_size=400,
            special_tokens=["<s>", "</s>"],
            initial_alphabet=byte_level.alphabet(),
            show_progress=False,
        )
        t.train_from_iterator(train, trainer)
        if name == "gpt4":
            ids = [("<s>", t.token_to_id("<s>")), ("</s>", t.token_to_id("</s>"))]
            t.post_processor = processors.TemplateProcessing(
                single="<s> $A </s>", special_tokens=ids
            )
        found = [[text, t.encode(text).ids, t.encode(text).tokens] for text in texts]
        out.append([name, json.loads(t.to_str()), found])
    return out


if __name__ == "__main__":
    known = json.loads(OUT.read_text()) if OUT.exists() else {}
    part = sys.argv[1]
    if part == "tokenizers":
        known[part] = from_tokenizers()
    else:
        known[part] = from_mindspore()
        with tempfile.TemporaryDirectory() as temporary:
            known["jieba"] = from_jieba(Path(temporary))
    OUT.write_text(json.dumps(known, ensure_ascii=True, separators=(",", ":")) + "\n")
    print(OUT.name, OUT.stat().st_size, "bytes,", len(known[part]), "cases")
