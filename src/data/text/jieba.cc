// Chinese words by a dictionary and a hidden Markov model, as jieba finds them: the most probable
// way through the words of the dictionary, and for runs of single characters in it the most
// probable sequence of begins, middles and ends of words.
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>

#include "base/error.h"
#include "data/text/text.h"
#include "data/text/tokens.h"
#include "data/text/unicode.h"
#include "data/text/words.h"

namespace mycel::data {
namespace {

constexpr double kImpossible = -3.14e100;

struct Character {
  int32_t code;
  uint32_t start, limit;  // bytes
};
using Characters = std::vector<Character>;
struct Range {
  size_t first, last;  // characters, the last one included
};

double number(std::string_view text, const std::string& path) {
  double x = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (error != std::errc() || end != text.data() + text.size())
    value_error("'{}': '{}' is not a number", path, text);
  return x;
}

std::vector<std::string_view> split(std::string_view line, char mark) {
  std::vector<std::string_view> out;
  for (size_t at = 0; at <= line.size();) {
    const size_t end = std::min(line.size(), line.find(mark, at));
    if (end > at) out.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::ifstream open(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) mycel::fail(ErrorKind::kOs, "JiebaTokenizer: cannot read '{}'", path);
  return file;
}

// Words with the logarithms of their probabilities; all their beginnings are there as well.
class Dictionary {
 public:
  explicit Dictionary(const std::string& path) {
    std::ifstream file = open(path);
    std::string line;
    std::vector<std::pair<std::string, double>> words;
    for (int64_t n = 1; std::getline(file, line); ++n) {
      if (line.ends_with('\r')) line.pop_back();
      const std::vector<std::string_view> f = split(line, ' ');
      if (f.empty()) continue;
      if (f.size() < 2) value_error("'{}', line {}: expected 'word count tag'", path, n);
      check_utf8(f[0]);
      words.emplace_back(f[0], number(f[1], path));
      sum_ += words.back().second;
    }
    if (words.empty() || !(sum_ > 0)) value_error("'{}' holds no words", path);
    for (auto& [word, count] : words) {
      const double weight = std::log(count / sum_);
      least_ = std::min(least_, weight);
      set(word, weight);
    }
    std::vector<double> sorted;
    for (const auto& [word, count] : words) sorted.push_back(std::log(count / sum_));
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<int64_t>(sorted.size() / 2),
                     sorted.end());
    median_ = sorted[sorted.size() / 2];
  }
  // A word of the user's; a count of 0 stands for the usual one.
  void add(const std::string& word, int64_t count) {
    check_utf8(word);
    if (word.empty()) value_error("JiebaTokenizer: a word is empty");
    set(word, count > 0 ? std::log(static_cast<double>(count) / sum_) : median_);
  }
  // NaN: only the beginning of words; false when it is not even that.
  bool find(std::string_view word, double* weight) const {
    const int32_t i = places_.find(word);
    if (i >= 0) *weight = weights_[static_cast<size_t>(i)];
    return i >= 0;
  }
  double least() const { return least_; }

 private:
  void set(const std::string& word, double weight) {
    for (size_t i = 1; i < word.size(); ++i) {
      if ((word[i] & 0xC0) == 0x80) continue;
      if (places_.add(std::string_view(word).substr(0, i), static_cast<int32_t>(weights_.size())))
        weights_.push_back(std::numeric_limits<double>::quiet_NaN());
    }
    if (places_.add(word, static_cast<int32_t>(weights_.size()))) {
      weights_.push_back(weight);
    } else {
      weights_[static_cast<size_t>(places_.find(word))] = weight;
    }
  }
  Words places_;
  std::vector<double> weights_;
  double sum_ = 0, least_ = 0, median_ = 0;
};

// Begins, ends, middles of words and single characters: B E M S.
class Markov {
 public:
  explicit Markov(const std::string& path) {
    std::ifstream file = open(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
      if (line.ends_with('\r')) line.pop_back();
      if (!line.empty() && line[0] != '#') lines.push_back(line);
    }
    if (lines.size() < 9)
      value_error("'{}' has {} lines, a hidden Markov model has 9", path, lines.size());
    read(lines[0], path, &start_);
    for (size_t s = 0; s < 4; ++s) read(lines[1 + s], path, &turn_[s]);
    for (size_t s = 0; s < 4; ++s) {
      for (const std::string_view item : split(lines[5 + s], ',')) {
        const size_t colon = item.rfind(':');
        if (colon == item.npos || colon == 0)
          value_error("'{}': '{}' is not 'character:number'", path, item);
        if (chars_[s].add(item.substr(0, colon), static_cast<int32_t>(emit_[s].size())))
          emit_[s].push_back(number(item.substr(colon + 1), path));
      }
    }
  }

  // The most probable words of characters [first, end).
  void cut(const std::string& text, const Characters& c, size_t first, size_t end,
           std::vector<Range>* out) const {
    const size_t n = end - first;
    std::vector<std::array<double, 4>> weight(n);
    std::vector<std::array<int, 4>> from(n);
    for (size_t i = 0; i < n; ++i) {
      const Character& ch = c[first + i];
      const std::string_view bytes(text.data() + ch.start, ch.limit - ch.start);
      for (size_t s = 0; s < 4; ++s) {
        const int32_t at = chars_[s].find(bytes);
        const double emit = at < 0 ? kImpossible : emit_[s][static_cast<size_t>(at)];
        if (i == 0) {
          weight[0][s] = start_[s] + emit;
          continue;
        }
        weight[i][s] = kImpossible;
        from[i][s] = 1;
        for (size_t p = 0; p < 4; ++p) {
          const double w = weight[i - 1][p] + turn_[p][s] + emit;
          if (w <= weight[i][s]) continue;
          weight[i][s] = w;
          from[i][s] = static_cast<int>(p);
        }
      }
    }
    std::vector<int> states(n);
    states[n - 1] = weight[n - 1][1] >= weight[n - 1][3] ? 1 : 3;
    for (size_t i = n - 1; i > 0; --i) states[i - 1] = from[i][static_cast<size_t>(states[i])];
    size_t begin = 0;
    for (size_t i = 0; i < n; ++i) {
      if (states[i] % 2 == 0 && i + 1 < n) continue;
      out->push_back({first + begin, first + i});
      begin = i + 1;
    }
  }

 private:
  static void read(const std::string& line, const std::string& path, std::array<double, 4>* to) {
    const std::vector<std::string_view> f = split(line, ' ');
    if (f.size() != 4) value_error("'{}': expected 4 numbers in '{}'", path, line);
    for (size_t i = 0; i < 4; ++i) (*to)[i] = number(f[i], path);
  }
  std::array<double, 4> start_{};
  std::array<std::array<double, 4>, 4> turn_{};
  std::array<Words, 4> chars_;
  std::array<std::vector<double>, 4> emit_;
};

class Jieba {
 public:
  Jieba(const std::string& hmm, const std::string& dict, std::string mode)
      : markov_(hmm), dictionary_(dict), mode_(std::move(mode)) {}
  Dictionary& dictionary() { return dictionary_; }

  void cut(const std::string& text, Tokens* out) const {
    Characters c;
    each_code_point(text, [&](int32_t code, size_t from, size_t to) {
      c.push_back({code, static_cast<uint32_t>(from), static_cast<uint32_t>(to)});
    });
    std::vector<Range> words;
    size_t first = 0;  // of a run without separators
    for (size_t i = 0; i <= c.size(); ++i) {
      if (i < c.size() && !separates(c[i].code)) continue;
      if (i > first) cut_run(text, c, first, i, &words);
      if (i < c.size()) words.push_back({i, i});
      first = i + 1;
    }
    for (const Range& r : words) {
      const uint32_t from = c[r.first].start, to = c[r.last].limit;
      out->add({text.data() + from, to - from}, from, to);
    }
  }

 private:
  static bool separates(int32_t c) {
    return c == ' ' || c == '\t' || c == '\n' || c == 0xFF0C || c == 0x3002;
  }

  void cut_run(const std::string& text, const Characters& c, size_t first, size_t end,
               std::vector<Range>* out) const {
    if (mode_ == "HMM") return by_markov(text, c, first, end, out);
    std::vector<Range> words;
    by_dictionary(text, c, first, end, &words);
    for (size_t i = 0; i < words.size(); ++i) {
      size_t j = i;  // behind a run of single characters
      while (mode_ == "MIX" && j < words.size() && words[j].first == words[j].last) ++j;
      if (j > i) {
        by_markov(text, c, words[i].first, words[j - 1].last + 1, out);
        i = j - 1;
      } else {
        out->push_back(words[i]);
      }
    }
  }

  void by_dictionary(const std::string& text, const Characters& c, size_t first, size_t end,
                     std::vector<Range>* out) const {
    const size_t n = end - first;
    std::vector<double> best(n + 1, 0.0);
    std::vector<size_t> length(n, 1);
    for (size_t i = n; i-- > 0;) {
      best[i] = kImpossible;
      for (size_t k = 1; i + k <= n; ++k) {
        const uint32_t from = c[first + i].start, to = c[first + i + k - 1].limit;
        double weight = 0;
        const bool there = dictionary_.find({text.data() + from, to - from}, &weight);
        if (!there && k > 1) break;
        if (!there || (k == 1 && std::isnan(weight))) weight = dictionary_.least();
        if (!std::isnan(weight) && best[i + k] + weight > best[i]) {
          best[i] = best[i + k] + weight;
          length[i] = k;
        }
        if (!there) break;
      }
    }
    for (size_t i = 0; i < n; i += length[i])
      out->push_back({first + i, first + i + length[i] - 1});
  }

  // Runs of ASCII are words of letters and digits, numbers, or single marks.
  void by_markov(const std::string& text, const Characters& c, size_t first, size_t end,
                 std::vector<Range>* out) const {
    const auto letter = [&](size_t i) {
      const int32_t x = c[i].code | 32;
      return c[i].code < 128 && x >= 'a' && x <= 'z';
    };
    const auto digit = [&](size_t i) { return c[i].code >= '0' && c[i].code <= '9'; };
    for (size_t i = first; i < end;) {
      size_t to = i;
      if (c[i].code >= 128) {
        while (to < end && c[to].code >= 128) ++to;
        markov_.cut(text, c, i, to, out);
      } else {
        if (letter(i)) {
          while (to < end && (letter(to) || digit(to))) ++to;
        } else if (digit(i)) {
          while (to < end && (digit(to) || c[to].code == '.')) ++to;
        } else {
          ++to;
        }
        out->push_back({i, to - 1});
      }
      i = to;
    }
  }

  Markov markov_;
  Dictionary dictionary_;
  std::string mode_;
};

const TransformDef kJieba{
    .name = "text.jieba",
    .doc =
        "Chinese words. mp_path: a dictionary of lines 'word count tag'; hmm_path: a hidden Markov "
        "model of 9 lines; both in the format of jieba. MP: the most probable words of the "
        "dictionary; HMM: those of the model; MIX: those of the dictionary, and of the model where "
        "these are single characters. words, counts: more words, with a count of 0 for the usual "
        "one. Result: strings (n); with_offsets adds the first byte and the byte behind each, "
        "uint32 (n). ValueError: a file that is none of these, not one string, not UTF-8. "
        "OSError: no such file.",
    .args = {"hmm_path: string", "mp_path: string", "mode: JiebaMode = MIX",
             "with_offsets: bool = False", "words: strings? = None", "counts: ints? = None"},
    .make =
        [](const Options& o) {
          auto jieba =
              std::make_shared<Jieba>(o.string("hmm_path"), o.string("mp_path"), o.choice("mode"));
          const std::vector<std::string> words = o.strings("words");
          const std::vector<int64_t> counts = o.ints("counts");
          if (words.size() != counts.size()) o.fail("counts", "must be as many as words");
          for (size_t i = 0; i < words.size(); ++i) jieba->dictionary().add(words[i], counts[i]);
          return tokenizer([jieba = std::shared_ptr<const Jieba>(jieba)](
                               const std::string& text, Tokens* out) { jieba->cut(text, out); },
                           o.boolean("with_offsets"));
        },
};

}  // namespace

TransformDefs jieba_transforms() { return {&kJieba}; }

}  // namespace mycel::data
