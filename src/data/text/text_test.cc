// Transforms of text from C++: one tokenizer in many threads, and values that Python cannot give.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "base/error.h"
#include "data/transform.h"

namespace mycel::data {
namespace {

Row run(const TransformPtr& t, Row row) {
  Philox draw(0);
  run_all({&t, 1}, &row, draw);
  return row;
}

// A tokenizer of bytes with a few joins, as vocab.json and merges.txt.
class Files {
 public:
  Files() : folder_(std::filesystem::temp_directory_path() / "mycel_text_test") {
    std::filesystem::create_directories(folder_);
    std::ofstream vocab(vocab_path());
    vocab << "{";
    for (char c = 'a'; c <= 'z'; ++c) vocab << '"' << c << "\":" << int(c - 'a') << ",";
    vocab << R"("Ġ":26,"th":27,"the":28,"Ġthe":29,"in":30,"ing":31})";
    std::ofstream(merges_path()) << "t h\nth e\nĠ the\ni n\nin g\n";
  }
  ~Files() { std::filesystem::remove_all(folder_); }
  std::string vocab_path() const { return (folder_ / "vocab.json").string(); }
  std::string merges_path() const { return (folder_ / "merges.txt").string(); }

 private:
  std::filesystem::path folder_;
};

TEST(Text, BytePairsJoinInOrder) {
  const Files files;
  const TransformPtr t =
      make_transform("text.ByteLevelBPETokenizer",
                     {{"path", files.vocab_path()}, {"merges_path", files.merges_path()}});
  const auto ids = run(t, {Value("the thing")})[0].tensor();
  const std::vector<int32_t> got(ids.data<int32_t>().begin(), ids.data<int32_t>().end());
  EXPECT_EQ(got, (std::vector<int32_t>{28, 26, 27, 31}));
  try {
    run(t, {Value("The")});
    FAIL() << "no token for T";
  } catch (const UserError& e) {
    EXPECT_NE(e.message().find("no token for the byte 0x54"), std::string::npos) << e.message();
  }
}

TEST(Text, OneTokenizerServesManyThreads) {
  const Files files;
  const NamedOptions args = {{"path", files.vocab_path()}, {"merges_path", files.merges_path()}};
  const TransformPtr shared = make_transform("text.ByteLevelBPETokenizer", args);
  std::vector<std::string> texts;
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (int k = i; k > 0; k /= 5) text += std::string(" thingen").substr(0, 1 + k % 8);
    texts.push_back(text);
  }
  const auto ids = [](const TransformPtr& t, const std::string& text) {
    const Tensor made = run(t, {Value(text)})[0].tensor();
    return std::vector<int32_t>(made.data<int32_t>().begin(), made.data<int32_t>().end());
  };
  std::vector<std::vector<int32_t>> expected;
  for (const std::string& text : texts) expected.push_back(ids(shared, text));
  const TransformPtr fresh = make_transform("text.ByteLevelBPETokenizer", args);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (size_t i = 0; i < texts.size(); ++i) wrong += ids(fresh, texts[i]) != expected[i];
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Text, VocabulariesAreSharedNotCopied) {
  const TransformPtr vocab =
      make_transform("text.vocabulary", {{"words", Option::List{"a", "b", "<u>"}}});
  const TransformPtr lookup =
      make_transform("text.Lookup", {{"vocab", vocab}, {"unknown_token", "<u>"}});
  EXPECT_EQ(vocab.use_count(), 2);
  const Tensor ids = run(lookup, {Value::list({"b", "z"})})[0].tensor();
  EXPECT_EQ(ids.data<int32_t>()[0], 1);
  EXPECT_EQ(ids.data<int32_t>()[1], 2);
}

TEST(Text, FunctionsOfNoRowGiveArrays) {
  const TransformPtr dct =
      make_transform("audio.create_dct", {{"n_mfcc", 3}, {"n_mels", 4}, {"norm", "ORTHO"}});
  const Tensor m = run(dct, {})[0].tensor();
  ASSERT_EQ(m.shape(), (Shape{4, 3}));
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {
      float sum = 0;
      for (int i = 0; i < 4; ++i)
        sum += m.data<float>()[size_t(3 * i + a)] * m.data<float>()[size_t(3 * i + b)];
      EXPECT_NEAR(sum, a == b, 1e-6);
    }
  }
}

}  // namespace
}  // namespace mycel::data
