#include "tensor/safetensors.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file_io.h"
#include "test_paths.h"

namespace mycel {
namespace {

namespace fs = std::filesystem;

std::string bytes_of_file(const std::string& path) {
  std::ostringstream s;
  s << std::ifstream(path, std::ios::binary).rdbuf();
  return s.str();
}

Checkpoint parse(const std::string& bytes) {
  return parse_safetensors(std::as_bytes(std::span(bytes)), "f");
}

// A file with this header and data.
std::string file_of(const std::string& header, const std::string& data = "") {
  const uint64_t length = header.size();
  std::string s(sizeof length, '\0');
  std::memcpy(s.data(), &length, sizeof length);
  return s + header + data;
}

std::string error_of(const std::string& bytes) {
  try {
    parse(bytes);
  } catch (const UserError& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kValue);
    return e.what();
  }
  return "no error";
}

// The error of a file with one entry "a" described by `fields` and four bytes of data.
std::string entry_error(const std::string& fields) {
  return error_of(file_of("{\"a\":{" + fields + "}}", std::string(4, '\0')));
}

class Safetensors : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "mycel_safetensors_XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ + "/x.safetensors";
  }
  void TearDown() override {
    set_file_ops_for_test(nullptr);
    fs::remove_all(folder_);
  }
  std::string folder_, path_;
};

bool same_values(const Tensor& a, const Tensor& b) {
  return a.describe() == b.describe() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

Checkpoint every_type() {
  Checkpoint c;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto t = static_cast<DType>(i);
    Tensor x = Tensor::empty(t, {3, 2});
    for (int64_t k = 0; k < 6; ++k) set_element(x.mutable_raw(), t, k, k % 2);
    c.tensors.emplace_back(std::string(name_of(t)), x);
  }
  Tensor z =
      Tensor::zeros(DType::kComplex128, {1, 1, 1, 1, 1, 1, 1, 2});  // as many dims as there are
  static_cast<double*>(z.mutable_raw())[3] = -2.5;
  c.tensors.emplace_back("complex of rank 8", z);
  c.tensors.emplace_back("empty", Tensor::zeros(DType::kFloat32, {0, 1 << 20}));
  c.tensors.emplace_back("scalar \"ü\"\n", Tensor::scalar(DType::kBFloat16, 0.5));
  c.metadata = {{"epoch", "3"}, {"text", "line\n\"quoted\" ü"}};
  return c;
}

TEST_F(Safetensors, RoundTripKeepsEverything) {
  const Checkpoint c = every_type();
  save_safetensors(path_, c);
  const Checkpoint back = load_safetensors(path_);
  ASSERT_EQ(back.tensors.size(), c.tensors.size());
  for (size_t i = 0; i < c.tensors.size(); ++i) {
    EXPECT_EQ(back.tensors[i].first, c.tensors[i].first);
    EXPECT_TRUE(same_values(back.tensors[i].second, c.tensors[i].second)) << c.tensors[i].first;
  }
  EXPECT_EQ(back.metadata, c.metadata);
  const std::string first = bytes_of_file(path_);
  save_safetensors(path_, back);
  EXPECT_EQ(bytes_of_file(path_), first);  // the same content gives the same file
}

TEST_F(Safetensors, EmptyCheckpoint) {
  save_safetensors(path_, {});
  const Checkpoint back = load_safetensors(path_);
  EXPECT_TRUE(back.tensors.empty());
  EXPECT_TRUE(back.metadata.empty());
}

TEST_F(Safetensors, DataIsAligned) {
  Checkpoint c;
  c.tensors.emplace_back("a", Tensor::zeros(DType::kUInt8, {3}));
  c.tensors.emplace_back("b", Tensor::full(DType::kFloat64, {1}, 1.0));
  save_safetensors(path_, c);
  const std::string bytes = bytes_of_file(path_);
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  EXPECT_EQ(bytes.size(), 8 + length + 11);
  double b = 0;
  std::memcpy(&b, bytes.data() + 8 + length, 8);
  EXPECT_EQ(b, 1.0);  // the doubles come first
}

// Written by the Python package safetensors 0.8.0 (with NumPy).
TEST_F(Safetensors, ReadsWhatPythonWrote) {
  const Checkpoint c = load_safetensors(MYCEL_SOURCE_DIR "/tests/data/every_dtype.safetensors");
  EXPECT_EQ(c.metadata, (std::map<std::string, std::string>{{"format", "np"}, {"who", "é"}}));
  ASSERT_EQ(c.tensors.size(), 15u);
  for (const auto& [name, t] : c.tensors) {
    if (name == "empty") {
      EXPECT_EQ(t.describe(), "float32(0, 4)");
    } else if (name == "scalar") {
      EXPECT_EQ(t.describe(), "float32()");
      EXPECT_EQ(t.item(), 2.5);
    } else if (name == "c64") {
      EXPECT_EQ(t.str(), "[1.+2.j]");
    } else {
      EXPECT_EQ(t.shape(), Shape({3})) << name;
      const double want[] = {0, 1, is_bool(t.dtype()) ? 1.0 : 3.0};
      for (int i = 0; i < 3; ++i)
        EXPECT_EQ(element_as_double(t.raw(), t.dtype(), i), want[i]) << name;
    }
  }
}

TEST_F(Safetensors, BundledDigits) {
  const Checkpoint c = load_safetensors(MYCEL_SOURCE_DIR "/python/mycel/data/digits.safetensors");
  ASSERT_EQ(c.tensors.size(), 2u);
  EXPECT_TRUE(c.metadata.at("licence").starts_with("CC BY 4.0"));
  for (const auto& [name, t] : c.tensors) {
    if (name == "images") {
      ASSERT_EQ(t.describe(), "uint8(1797, 8, 8)");
      int64_t sum = 0;
      for (uint8_t pixel : t.data<uint8_t>()) sum += pixel;
      EXPECT_EQ(sum, 561718);  // of scikit-learn's copy
    } else {
      ASSERT_EQ(t.describe(), "uint8(1797,)");
      int counts[10] = {};
      for (uint8_t label : t.data<uint8_t>()) ++counts[label];
      const int kWant[] = {178, 182, 177, 183, 181, 182, 181, 179, 174, 180};
      EXPECT_TRUE(std::equal(counts, counts + 10, kWant));
    }
  }
}

TEST_F(Safetensors, DamagedDataIsNoticed) {
  save_safetensors(path_, every_type());
  std::string bytes = bytes_of_file(path_);
  bytes.back() ^= 1;
  const std::string error = error_of(bytes);
  EXPECT_TRUE(error.starts_with("f: the data is damaged (checksum ") ||
              error.find("BOOL holds") != std::string::npos)
      << error;
  bytes = bytes_of_file(path_);
  for (size_t keep = 0; keep < bytes.size(); ++keep) {
    ASSERT_NE(error_of(bytes.substr(0, keep)), "no error") << keep;
  }
  EXPECT_EQ(error_of(bytes + "x"), "f: 1 bytes of data belong to no entry");
}

TEST_F(Safetensors, LoadedTensorsOutliveTheFile) {
  save_safetensors(path_, every_type());
  const Checkpoint c = load_safetensors(path_);
  fs::resize_file(path_, 0);
  EXPECT_TRUE(same_values(c.tensors[3].second, every_type().tensors[3].second));
  EXPECT_TRUE(c.tensors[3].second.sole_owner());
}

TEST_F(Safetensors, FailedSaveKeepsTheOldFile) {
  save_safetensors(path_, every_type());
  const std::string before = bytes_of_file(path_);
  Checkpoint other;
  other.tensors.emplace_back("w", Tensor::zeros(DType::kFloat32, {100}));
  const auto expect_failure = [&](const FileOps& ops) {
    set_file_ops_for_test(&ops);
    EXPECT_THROW(save_safetensors(path_, other), UserError);
    set_file_ops_for_test(nullptr);
    EXPECT_EQ(bytes_of_file(path_), before);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
  };
  for (int fail_at = 1; fail_at <= 3; ++fail_at) {  // length, header, data
    int calls = 0;
    FileOps ops = system_file_ops();
    ops.write = [&](int fd, const void* data, size_t n) -> ssize_t {
      return ++calls == fail_at ? (errno = ENOSPC, -1) : ::write(fd, data, n);
    };
    expect_failure(ops);
    EXPECT_EQ(calls, fail_at);
  }
  FileOps ops = system_file_ops();
  ops.fsync = [](int) { return errno = EIO, -1; };
  expect_failure(ops);
  ops = system_file_ops();
  ops.rename = [](const char*, const char*) { return errno = EIO, -1; };
  expect_failure(ops);
}

TEST_F(Safetensors, SaveRefusals) {
  const auto error = [&](const Checkpoint& c) -> std::string {
    try {
      save_safetensors(path_, c);
    } catch (const UserError& e) {
      return e.what();
    }
    return "no error";
  };
  const Tensor t = Tensor::zeros(DType::kFloat32, {1});
  EXPECT_EQ(error({{{"w", t}, {"w", t}}, {}}), "save_safetensors: name 'w' comes twice");
  EXPECT_EQ(error({{{"__metadata__", t}}, {}}),
            "save_safetensors: the name '__metadata__' is reserved");
  EXPECT_EQ(error({{{"w", Tensor::abstract(DType::kFloat32, {2})}}, {}}),
            "save_safetensors: 'w' has no values (it is float32(2,))");
  EXPECT_EQ(error({{}, {{"mycel.checksum", "0"}}}),
            "save_safetensors: metadata 'mycel.checksum' is reserved");
  EXPECT_EQ(error({{{"a\xff", t}}, {}}), "save_safetensors: 'a\\xff' is not UTF-8");
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(Safetensors, ForeignAndTruncatedFiles) {
  EXPECT_EQ(error_of(""), "f: 0 bytes are too few for a safetensors file");
  EXPECT_EQ(error_of("1234567"), "f: 7 bytes are too few for a safetensors file");
  EXPECT_EQ(error_of("\x80\x02}q\x01(X\x06PK torch"),
            "f: not a safetensors file (its first 8 bytes say that the header has "
            "457159348842201728 bytes; at most 100000000 are allowed)");
  EXPECT_EQ(
      error_of(file_of("{}").substr(0, 9)),
      "f: the header should have 2 bytes, but the file ends after 1: it is truncated or not a "
      "safetensors file");
  EXPECT_THROW(load_safetensors(folder_ + "/none"), UserError);
  EXPECT_THROW(load_safetensors(folder_), UserError);
  std::ofstream(path_) << "short";
  try {
    load_safetensors(path_);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.message(), path_ + ": 5 bytes are too few for a safetensors file");
  }
}

TEST_F(Safetensors, HeadersThatAreNoHeaders) {
  EXPECT_EQ(error_of(file_of("{\"a\":")), "f: the header is not valid JSON (at its byte 6)");
  EXPECT_EQ(error_of(file_of("[]")), "f: the header is a list, not a JSON object");
  EXPECT_EQ(error_of(file_of("7")), "f: the header is 7, not a JSON object");
  EXPECT_EQ(error_of(file_of("{\"a\":1}")), "f: 'a' is 1, not an object");
  EXPECT_EQ(error_of(file_of("{\"a\":[]}")), "f: 'a' is a list, not an object");
  EXPECT_NE(error_of(file_of("{}x")), "no error");
  EXPECT_NE(error_of(file_of(std::string(100000, '['))), "no error");
  EXPECT_NE(error_of(file_of("{\"\xff\":{}}")), "no error");
  EXPECT_EQ(error_of(file_of("{\"__metadata__\":{\"a\":1}}")),
            "f: metadata 'a' is 1; only texts are allowed");
  EXPECT_EQ(error_of(file_of("{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}")),
            "f: metadata 'a' comes twice");
  EXPECT_NE(error_of(file_of("{\"__metadata__\":{\"a\":{}}}")), "no error");
}

TEST_F(Safetensors, MalformedEntries) {
  const std::string f32 = "\"dtype\":\"F32\",", shape = "\"shape\":[1],";
  const std::string offsets = "\"data_offsets\":[0,4]";
  EXPECT_EQ(entry_error(f32 + shape + offsets), "no error");
  EXPECT_EQ(entry_error(f32 + offsets), "f: entry 'a': key 'shape' is missing");
  EXPECT_EQ(entry_error(f32 + f32 + shape + offsets), "f: entry 'a': key 'dtype' comes twice");
  EXPECT_EQ(entry_error(f32 + shape + "\"more\":1," + offsets), "f: entry 'a': unknown key 'more'");
  EXPECT_EQ(entry_error("\"dtype\":4," + shape + offsets),
            "f: entry 'a': 'dtype' is 4, not a text");
  EXPECT_EQ(entry_error(f32 + "\"shape\":1," + offsets), "f: entry 'a': 'shape' is 1, not a list");
  EXPECT_EQ(entry_error(f32 + "\"shape\":[-1]," + offsets),
            "f: entry 'a': shape holds -1; dimensions are whole numbers from 0");
  EXPECT_EQ(entry_error(f32 + "\"shape\":[1.0]," + offsets),
            "f: entry 'a': shape holds 1.0; dimensions are whole numbers from 0");
  EXPECT_EQ(entry_error(f32 + "\"shape\":[18446744073709551615]," + offsets),
            "f: entry 'a': dimension 18446744073709551615 is too large");
  EXPECT_EQ(entry_error(f32 + shape + "\"data_offsets\":[0]"),
            "f: entry 'a': data_offsets has 1 numbers instead of 2");
  EXPECT_EQ(entry_error(f32 + shape + "\"data_offsets\":[0,4,8]"),
            "f: entry 'a': data_offsets holds 8; two whole numbers from 0 are expected");
  EXPECT_NE(entry_error("\"dtype\":[]," + shape + offsets), "no error");
  EXPECT_NE(entry_error(f32 + "\"shape\":[[1]]," + offsets), "no error");
  const std::string twice =
      "{\"a\":{" + f32 + shape + offsets + "},\"a\":{" + f32 + shape + offsets + "}}";
  EXPECT_EQ(error_of(file_of(twice, "1234")), "f: entry 'a' comes twice");
}

TEST_F(Safetensors, EntriesThatDoNotFitTheData) {
  const auto f32 = [](const std::string& shape, const std::string& offsets) {
    return "\"dtype\":\"F32\",\"shape\":[" + shape + "],\"data_offsets\":[" + offsets + "]";
  };
  EXPECT_EQ(entry_error("\"dtype\":\"F8_E4M3\",\"shape\":[4],\"data_offsets\":[0,4]"),
            "f: entry 'a': dtype 'F8_E4M3' is not supported; supported are BOOL, U8, I8, U16, I16, "
            "U32, I32, U64, I64, F16, BF16, F32, F64, C64");
  EXPECT_EQ(entry_error(f32("2, 3", "0,4")),
            "f: entry 'a': F32 of shape (2, 3) needs 24 bytes, but data_offsets are [0, 4]");
  EXPECT_EQ(entry_error(f32("1", "4,0")),
            "f: entry 'a': F32 of shape (1) needs 4 bytes, but data_offsets are [4, 0]");
  EXPECT_EQ(
      entry_error(f32("2", "0,8")),
      "f: entry 'a': data_offsets [0, 8] reach beyond the 4 bytes of data: the file is truncated "
      "or damaged");
  EXPECT_NE(entry_error(f32("1", "18446744073709551612,18446744073709551616")), "no error");
  EXPECT_EQ(entry_error(f32("4611686018427387904, 4", "0,4")),
            "f: entry 'a': shape (4611686018427387904, 4) overflows");
  EXPECT_EQ(entry_error(f32("1,1,1,1,1,1,1,1,1", "0,4")),
            "f: entry 'a': shape (1, 1, 1, 1, 1, 1, 1, 1, 1) has 9 dims; at most 8 are supported");
  EXPECT_EQ(entry_error(f32("0", "0,0")), "f: 4 bytes of data belong to no entry");
  const auto two = [&](const std::string& a, const std::string& b) {
    return error_of(file_of("{\"a\":{" + f32("1", a) + "},\"b\":{" + f32("1", b) + "}}",
                            std::string(12, '\0')));
  };
  EXPECT_EQ(two("0,4", "2,6"),
            "f: entry 'b': data_offsets [2, 6] overlap another entry, which ends at byte 4");
  EXPECT_EQ(two("0,4", "8,12"), "f: entry 'b': data_offsets [8, 12] leave a gap after byte 4");
  EXPECT_EQ(
      error_of(file_of("{\"a\":{\"dtype\":\"BOOL\",\"shape\":[1],\"data_offsets\":[0,1]}}", "\2")),
      "f: entry 'a': BOOL holds the byte 2 at element 0");
}

TEST_F(Safetensors, ComplexNoteIsChecked) {
  const auto note = [](const std::string& list, const std::string& shape) {
    return error_of(file_of("{\"__metadata__\":{\"mycel.complex\":\"" + list +
                                "\"},\"a\":{\"dtype\":\"F32\",\"shape\":" + shape +
                                ",\"data_offsets\":[0,8]}}",
                            std::string(8, '\0')));
  };
  EXPECT_EQ(note("[\\\"a\\\"]", "[1,2]"), "no error");
  EXPECT_EQ(note("[\\\"a\\\"]", "[2,1]"),
            "f: entry 'a' should be complex, but is F32 of shape (2, 1)");
  EXPECT_EQ(note("[\\\"b\\\"]", "[1,2]"),
            "f: metadata 'mycel.complex' names 'b', which is no entry");
  EXPECT_EQ(note("{}", "[1,2]"), "f: metadata 'mycel.complex' is not a list of names");
  EXPECT_EQ(note("nonsense", "[1,2]"), "f: metadata 'mycel.complex' is not a list of names");
}

}  // namespace
}  // namespace mycel
