// Reads tokenizers of byte pairs: tokenizer.json, or vocab.json with merges.txt.
#include <algorithm>
#include <bit>
#include <sstream>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/text/bpe.h"
#include "data/text/unicode.h"

namespace mycel::data {

using Json = nlohmann::json;

namespace {

// The printable characters that stand for bytes: most for themselves, the others for U+0100 and on.
class Alphabet {
 public:
  Alphabet() {
    int32_t next = 256;
    for (int b = 0; b < 256; ++b) {
      const bool itself = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
      const int32_t c = itself ? b : next++;
      char_of_[static_cast<size_t>(b)] = c;
      byte_of_[static_cast<size_t>(c)] = b;
    }
  }
  std::string character(int byte) const {
    std::string out;
    icu::UnicodeString(char_of_[static_cast<size_t>(byte)]).toUTF8String(out);
    return out;
  }
  // The bytes that a token stands for; the token itself when other characters are in it.
  std::string bytes(const std::string& token) const {
    std::string out;
    bool all = true;
    each_code_point(token, [&](int32_t c, size_t, size_t) {
      const int byte =
          c < static_cast<int32_t>(byte_of_.size()) ? byte_of_[static_cast<size_t>(c)] : -1;
      all = all && byte >= 0;
      if (all) out += static_cast<char>(byte);
    });
    return all ? out : token;
  }

 private:
  std::array<int32_t, 256> char_of_{};
  std::array<int, 512> byte_of_ = [] {
    std::array<int, 512> none{};
    none.fill(-1);
    return none;
  }();
};

bool given(const Json& j, const char* key) {
  return j.contains(key) && !j[key].is_null() && j[key] != "" && j[key] != false;
}

std::string type_of(const Json& j) { return j.is_null() ? "null" : j.value("type", "?"); }

[[noreturn]] void unsupported(const std::string& what) {
  fail(ErrorKind::kUnsupported, "tokenizer.json: {} is not supported", what);
}

}  // namespace

class BpeLoader {
 public:
  explicit BpeLoader(BytePairs* to) : to_(to) {}

  void add_token(const std::string& token, int64_t id) {
    if (id < 0 || id > (1 << 28)) value_error("tokenizer: token '{}' has the id {}", token, id);
    const auto i = static_cast<size_t>(id);
    if (to_->names_.size() <= i) {
      to_->names_.resize(i + 1);
      to_->raw_.resize(i + 1);
    }
    to_->names_[i] = token;
    to_->raw_[i] = alphabet_.bytes(token);
    ids_.add(token, static_cast<int32_t>(id));
  }

  void finish_vocabulary() {
    for (int b = 0; b < 256; ++b)
      to_->bytes_[static_cast<size_t>(b)] = ids_.find(alphabet_.character(b));
    for (size_t i = 0; i < to_->raw_.size() && to_->ignore_merges_; ++i)
      to_->by_bytes_.add(to_->raw_[i], static_cast<int32_t>(i));
  }

  void reserve_merges(size_t n) {
    to_->pairs_.assign(std::bit_ceil(n * 3 + 8), {BytePairs::kNoPair, 0});
    to_->pair_mask_ = to_->pairs_.size() - 1;
  }
  void add_merge(const std::string& left, const std::string& right, size_t rank) {
    const int32_t a = known(left), b = known(right), both = known(left + right);
    const uint64_t key = uint64_t{static_cast<uint32_t>(a)} << 32 | static_cast<uint32_t>(b);
    uint64_t h = key * 0x9E3779B97F4A7C15u;
    size_t at = (h ^ (h >> 29)) & to_->pair_mask_;
    while (to_->pairs_[at].key != BytePairs::kNoPair) {
      if (to_->pairs_[at].key == key) break;  // the later one counts, as in the field
      at = (at + 1) & to_->pair_mask_;
    }
    to_->pairs_[at] = {key, uint64_t{rank} << 32 | static_cast<uint32_t>(both)};
  }

  void added_tokens(const Json& list) {
    for (const Json& t : list) {
      const std::string text = t.at("content");
      for (const char* flag : {"single_word", "lstrip", "rstrip"}) {
        if (t.value(flag, false)) unsupported(fmt::format("'{}' of the token '{}'", flag, text));
      }
      if (to_->form_ != "NONE" && t.value("normalized", false) && !is_ascii(text))
        unsupported(fmt::format("'normalized' of the token '{}'", text));
      const int64_t id = t.at("id");
      add_token(text, id);
      to_->raw_[static_cast<size_t>(id)] = text;
      if (text.empty()) continue;
      to_->specials_.push_back({text, static_cast<int32_t>(id), t.value("special", false)});
      to_->special_first_[static_cast<uint8_t>(text[0])] = true;
    }
    std::stable_sort(to_->specials_.begin(), to_->specials_.end(),
                     [](const auto& a, const auto& b) { return a.text.size() > b.text.size(); });
  }

  void normalizer(const Json& j) {
    if (j.is_null()) return;
    const std::string type = type_of(j);
    if (type == "Sequence") {
      const Json& all = j.at("normalizers");
      if (all.size() > 1) unsupported("a sequence of several normalizers");
      if (!all.empty()) normalizer(all[0]);
      return;
    }
    if (type != "NFC" && type != "NFD" && type != "NFKC" && type != "NFKD")
      unsupported(fmt::format("the normalizer '{}'", type));
    to_->form_ = type;
  }

  void pre_tokenizer(const Json& j) {
    const std::string type = type_of(j);
    if (type == "Sequence") {
      const Json& all = j.at("pretokenizers");
      const bool ends_in_bytes = !all.empty() && type_of(all.back()) == "ByteLevel";
      if (all.size() == 2 && type_of(all[0]) == "Split" && ends_in_bytes &&
          !all[1].value("use_regex", true) && !all[1].value("add_prefix_space", true)) {
        split(all[0]);
        return;
      }
      if (all.size() == 1) return pre_tokenizer(all[0]);
      unsupported("this sequence of pre-tokenizers (Split and ByteLevel without a regex is)");
    }
    if (type != "ByteLevel") unsupported(fmt::format("the pre-tokenizer '{}'", type));
    to_->prefix_space_ = j.value("add_prefix_space", true);
    to_->pretokenizer_ = j.value("use_regex", true) ? gpt2_words() : whole_text();
  }

  void post_processor(const Json& j) {
    const std::string type = type_of(j);
    if (type == "null" || type == "ByteLevel") return;
    if (type == "Sequence") {
      for (const Json& p : j.at("processors")) post_processor(p);
    } else if (type == "RobertaProcessing" || type == "BertProcessing") {
      to_->before_ = {j.at("cls")[1].get<int32_t>()};
      to_->behind_ = {j.at("sep")[1].get<int32_t>()};
    } else if (type == "TemplateProcessing") {
      bool behind = false;
      for (const Json& part : j.at("single")) {
        if (part.contains("Sequence")) {
          behind = true;
          continue;
        }
        const std::string name = part.at("SpecialToken").at("id");
        for (const Json& id : j.at("special_tokens").at(name).at("ids"))
          (behind ? to_->behind_ : to_->before_).push_back(id.get<int32_t>());
      }
    } else {
      unsupported(fmt::format("the post-processor '{}'", type));
    }
  }

 private:
  int32_t known(const std::string& token) const {
    const int32_t id = ids_.find(token);
    if (id < 0) value_error("tokenizer: a merge names '{}', which is not in the vocabulary", token);
    return id;
  }
  void split(const Json& j) {
    const Json& pattern = j.at("pattern");
    if (!pattern.contains("Regex") || j.value("behavior", "") != "Isolated" ||
        j.value("invert", false))
      unsupported("a Split that is not an isolated Regex");
    const std::string regex = pattern["Regex"];
    to_->pretokenizer_ = known_words(regex);
    if (!to_->pretokenizer_) to_->pretokenizer_ = regex_words(regex);
  }

  BytePairs* to_;
  Words ids_;
  Alphabet alphabet_;
};

namespace {

Json parsed(const std::string& text, const char* what) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& e) {
    value_error("{} is not JSON: {}", what, e.what());
  }
}

void read_json(const Json& j, BpeLoader* load, bool* ignore_merges) {
  if (!j.is_object() || !j.contains("model")) value_error("tokenizer.json has no 'model'");
  const Json& model = j["model"];
  const std::string type = model.value("type", "BPE");
  if (type != "BPE") unsupported(fmt::format("the model '{}'", type));
  for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix",
                          "byte_fallback", "fuse_unk"}) {
    if (given(model, key)) unsupported(fmt::format("'{}'", key));
  }
  *ignore_merges = model.value("ignore_merges", false);
  load->normalizer(j.value("normalizer", Json()));
  load->pre_tokenizer(j.value("pre_tokenizer", Json()));
  for (const auto& [token, id] : model.at("vocab").items()) load->add_token(token, id);
  load->finish_vocabulary();
  const Json& merges = model.at("merges");
  load->reserve_merges(merges.size());
  for (size_t i = 0; i < merges.size(); ++i) {
    if (merges[i].is_array()) {
      load->add_merge(merges[i].at(0), merges[i].at(1), i);
      continue;
    }
    const std::string line = merges[i];
    const size_t space = line.find(' ');
    if (space == line.npos) value_error("tokenizer.json: the merge '{}' has no space", line);
    load->add_merge(line.substr(0, space), line.substr(space + 1), i);
  }
  load->added_tokens(j.value("added_tokens", Json::array()));
  load->post_processor(j.value("post_processor", Json()));
}

}  // namespace

std::shared_ptr<const BytePairs> BytePairs::from_json(const std::string& text) {
  auto made = std::make_shared<BytePairs>();
  BpeLoader load(made.get());
  try {
    read_json(parsed(text, "tokenizer.json"), &load, &made->ignore_merges_);
  } catch (const Json::exception& e) {
    value_error("tokenizer.json is not as it should be: {}", e.what());
  }
  return made;
}

std::shared_ptr<const BytePairs> BytePairs::from_vocab(const std::string& vocab_json,
                                                       const std::string& merges,
                                                       bool prefix_space) {
  auto made = std::make_shared<BytePairs>();
  BpeLoader load(made.get());
  const Json vocab = parsed(vocab_json, "vocab.json");
  if (!vocab.is_object()) value_error("vocab.json must hold an object of tokens and ids");
  try {
    for (const auto& [token, id] : vocab.items()) load.add_token(token, id);
  } catch (const Json::exception& e) {
    value_error("vocab.json is not as it should be: {}", e.what());
  }
  load.finish_vocabulary();
  std::vector<std::pair<std::string, std::string>> pairs;
  std::istringstream lines(merges);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || line.starts_with("#version")) continue;
    const size_t space = line.find(' ');
    if (space == line.npos) value_error("merges.txt: the line '{}' has no space", line);
    pairs.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  load.reserve_merges(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) load.add_merge(pairs[i].first, pairs[i].second, i);
  made->prefix_space_ = prefix_space;
  made->pretokenizer_ = gpt2_words();
  return made;
}

}  // namespace mycel::data
