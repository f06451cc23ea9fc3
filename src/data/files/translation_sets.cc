// Published data sets of sentences in two languages.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "data/files/arguments.h"
#include "data/files/lines.h"
#include "data/files/records.h"
#include "data/files/rows.h"
#include "data/group_order.h"

namespace mycel::data {
namespace {

using Pair = std::pair<std::string, std::string>;

Pair language_pair(const Options& o, const Pair& fallback, const std::vector<Pair>& allowed) {
  if (o.none("language_pair")) return fallback;
  const std::vector<std::string> given = o.strings("language_pair");
  std::vector<std::string> known;
  for (const Pair& p : allowed) {
    if (given.size() == 2 && given[0] == p.first && given[1] == p.second) return p;
    known.push_back(p.first + "-" + p.second);
  }
  o.fail("language_pair", "must be one of {}, got {}", fmt::join(known, ", "),
         o["language_pair"].str());
}

DatasetPtr open_multi30k(const Options& o) {
  const std::string usage = one_of(o, "usage", {"train", "test", "valid", "all"}, "all");
  const Pair pair = language_pair(o, {"en", "de"}, {{"en", "de"}, {"de", "en"}});
  const Folder folder(o.string("dataset_dir"));
  std::vector<BytesPtr> sources, targets;
  for (const auto& [name, front] :
       {Pair{"test", "mmt16_task1_test/test"}, Pair{"train", "training/train"},
        Pair{"valid", "validation/val"}}) {
    if (usage != "all" && usage != name) continue;
    sources.push_back(folder.open(front + "." + pair.first));
    targets.push_back(folder.open(front + "." + pair.second));
  }
  const auto source = std::make_shared<const LineIndex>(sources);
  const auto target = std::make_shared<const LineIndex>(targets);
  if (source->size() != target->size())
    fail(ErrorKind::kOs, "{}: there are {} lines in {}, but {} in {}", o.owner(), source->size(),
         pair.first, target->size(), pair.second);
  return in_files(file_rows(
                      o.owner(), {"text", "translation"}, source->size(),
                      [source, target](int64_t i) -> Row {
                        return {Value(source->line(i)), Value(target->line(i))};
                      },
                      folder.path()),
                  source->ends());
}

// Text with the five entities of XML and numbers of characters below 128 put in.
std::string without_entities(std::string_view text) {
  constexpr std::pair<std::string_view, char> kEntities[] = {
      {"amp;", '&'}, {"lt;", '<'}, {"gt;", '>'}, {"quot;", '"'}, {"apos;", '\''}, {"#39;", '\''}};
  std::string out;
  while (!text.empty()) {
    const size_t amp = std::min(text.find('&'), text.size());
    out.append(text.substr(0, amp));
    text.remove_prefix(amp);
    if (text.empty()) break;
    char put = '&';
    size_t used = 1;
    for (const auto& [name, c] : kEntities) {
      if (text.substr(1).starts_with(name)) {
        put = c;
        used = 1 + name.size();
      }
    }
    out += put;
    text.remove_prefix(used);
  }
  return out;
}

// The contents of <seg …>…</seg>.
std::vector<std::string> segments(const Bytes& file) {
  const std::string text = file.text();
  std::vector<std::string> out;
  size_t at = 0;
  while ((at = text.find("<seg", at)) != text.npos) {
    const size_t begin = text.find('>', at);
    const size_t end = text.find("</seg>", at);
    if (begin == text.npos || end == text.npos || begin > end)
      fail(ErrorKind::kOs, "'{}' is no sound XML: a <seg> does not end", file.name());
    const std::string_view inside(text.data() + begin + 1, end - begin - 1);
    out.push_back(without_entities(trim(inside)));
    at = end;
  }
  return out;
}

// Lines that are no tags, without spaces at their ends.
std::vector<std::string> untagged(const BytesPtr& file) {
  constexpr std::string_view kTags[] = {"<url",      "<keywords", "<talkid",     "<description",
                                        "<reviewer", "<title",    "<translator", "<speaker"};
  std::vector<std::string> out;
  Scanner scan(file);
  std::string line;
  while (scan.line(&line)) {
    const std::string_view text = trim(line);
    const bool tag = std::any_of(std::begin(kTags), std::end(kTags),
                                 [&](std::string_view t) { return text.starts_with(t); });
    if (!tag && !text.empty()) out.emplace_back(text);
  }
  return out;
}

struct Sentences {
  std::vector<std::string> source, target;
};

// The two files whose names end with a language; `read` gives their sentences.
template <typename F>
void add_pair(const Options& o, const Folder& folder, const std::string& front,
              const std::string& end, const Pair& pair, Sentences* out, F&& read) {
  std::vector<std::string> source = read(folder.open(front + pair.first + end));
  std::vector<std::string> target = read(folder.open(front + pair.second + end));
  if (source.size() != target.size())
    fail(ErrorKind::kOs, "{}: '{}' has {} sentences in {}, but {} in {}", o.owner(),
         folder.path(front + pair.first + end), source.size(), pair.first, target.size(),
         pair.second);
  out->source.insert(out->source.end(), source.begin(), source.end());
  out->target.insert(out->target.end(), target.begin(), target.end());
}

// `year`: "16" or "17"; `valid` and `test`: names of the sets that belong to a usage.
DatasetPtr iwslt(const Options& o, const Folder& folder, const std::string& inside,
                 const std::string& year, const Pair& pair, const std::string& valid,
                 const std::string& test) {
  const std::string usage = one_of(o, "usage", {"train", "valid", "test", "all"}, "all");
  auto s = std::make_shared<Sentences>();
  const std::string languages = pair.first + "-" + pair.second;
  if (usage == "train" || usage == "all")
    add_pair(o, folder, join_path(inside, "train.tags." + languages + "."), "", pair, s.get(),
             untagged);
  const auto add = [&](const std::string& set) {
    add_pair(o, folder, join_path(inside, "IWSLT" + year + ".TED." + set + "." + languages + "."),
             ".xml", pair, s.get(), [](const BytesPtr& file) { return segments(*file); });
  };
  if (usage == "valid" || usage == "all") add(valid);
  if (usage == "test" || usage == "all") add(test);
  return file_rows(
      o.owner(), {"text", "translation"}, static_cast<int64_t>(s->source.size()),
      [s](int64_t i) -> Row { return {Value(s->source[i]), Value(s->target[i])}; }, folder.path());
}

DatasetPtr open_iwslt2016(const Options& o) {
  std::vector<Pair> allowed;
  for (const char* other : {"fr", "de", "cs", "ar"}) {
    allowed.emplace_back("en", other);
    allowed.emplace_back(other, "en");
  }
  const Pair pair = language_pair(o, {"de", "en"}, allowed);
  const std::vector<std::string> sets = {"dev2010", "tst2010", "tst2011",
                                         "tst2012", "tst2013", "tst2014"};
  const std::string valid = one_of(o, "valid_set", sets, "tst2013");
  const std::string test = one_of(o, "test_set", sets, "tst2014");
  return iwslt(o, Folder(o.string("dataset_dir")),
               fmt::format("texts/{0}/{1}/{0}-{1}", pair.first, pair.second), "16", pair, valid,
               test);
}

DatasetPtr open_iwslt2017(const Options& o) {
  std::vector<Pair> allowed;
  for (const char* a : {"en", "nl", "de", "it", "ro"}) {
    for (const char* b : {"en", "nl", "de", "it", "ro"}) {
      if (std::string_view(a) != b) allowed.emplace_back(a, b);
    }
  }
  const Pair pair = language_pair(o, {"de", "en"}, allowed);
  return iwslt(o, Folder(o.string("dataset_dir")),
               "texts/DeEnItNlRo/DeEnItNlRo/DeEnItNlRo-DeEnItNlRo", "17", pair, "dev2010",
               "tst2010");
}

const SourceDef kMulti30k{
    .name = "Multi30kDataset",
    .doc =
        "Descriptions of pictures in English and German (D. Elliott et al., 2016): "
        "training/train.en, validation/val.en, mmt16_task1_test/test.en and the same with .de. "
        "`usage`: train, test, valid or all (None). `language_pair`: (en, de) (None) or (de, "
        "en). Columns, strings []: text, translation.",
    .args = {"dataset_dir: string", "usage: string? = None", "language_pair: strings? = None",
             "num_samples: int? = None", "num_parallel_workers: int? = None",
             "shuffle: any? = None", "num_shards: int? = None", "shard_id: int? = None",
             "cache: any? = None"},
    .open = open_multi30k,
};
const SourceDef kIwslt2016{
    .name = "IWSLT2016Dataset",
    .doc =
        "Talks and their translations (M. Cettolo et al., 2016): "
        "texts/<de>/<en>/<de-en>/train.tags.de-en.de, IWSLT16.TED.<set>.de-en.de.xml and so on. "
        "`usage`: train, valid, test or all (None); `language_pair`: en with fr, de, cs or ar, "
        "either way (None: de, en); `valid_set`, `test_set`: dev2010, tst2010 to tst2014 (None: "
        "tst2013, tst2014). Columns, strings []: text, translation.",
    .args = with({"dataset_dir: string", "usage: string? = None", "language_pair: strings? = None",
                  "valid_set: string? = None", "test_set: string? = None"},
                 kTextArgsWorkersLast),
    .open = open_iwslt2016,
};
const SourceDef kIwslt2017{
    .name = "IWSLT2017Dataset",
    .doc =
        "Talks and their translations (M. Cettolo et al., 2017): "
        "texts/DeEnItNlRo/DeEnItNlRo/DeEnItNlRo-DeEnItNlRo/train.tags.de-en.de, "
        "IWSLT17.TED.dev2010.de-en.de.xml and so on. `usage`: train, valid, test or all (None); "
        "`language_pair`: two of en, nl, de, it, ro (None: de, en). Columns, strings []: text, "
        "translation.",
    .args = with({"dataset_dir: string", "usage: string? = None", "language_pair: strings? = None"},
                 kTextArgsWorkersLast),
    .open = open_iwslt2017,
};

}  // namespace

SourceDefs translation_set_sources() { return {&kMulti30k, &kIwslt2016, &kIwslt2017}; }

}  // namespace mycel::data
