// Published data sets of text whose files are CSV or plain lines.
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "data/files/arguments.h"
#include "data/files/csv.h"
#include "data/files/lines.h"
#include "data/files/records.h"
#include "data/files/rows.h"
#include "data/group_order.h"

namespace mycel::data {
namespace {

using Names = std::vector<std::string>;

// The files for `usage` among (usage, file) in the order in which "all" reads them.
std::vector<BytesPtr> files_for(const Options& o, const Folder& folder,
                                const std::vector<std::pair<std::string, std::string>>& parts) {
  Names allowed;
  for (const auto& [usage, _] : parts) allowed.push_back(usage);
  allowed.push_back("all");
  const std::string usage = one_of(o, "usage", allowed, "all");
  std::vector<BytesPtr> out;
  for (const auto& [name, file] : parts) {
    if (usage == "all" || usage == name) out.push_back(folder.open(file));
  }
  return out;
}

// Rows of CSV files without a header, all fields as strings.
DatasetPtr csv_set(const Options& o, Names columns, bool train_first) {
  const Folder folder(o.string("dataset_dir"));
  std::vector<std::pair<std::string, std::string>> parts = {{"test", "test.csv"},
                                                            {"train", "train.csv"}};
  if (train_first) std::swap(parts[0], parts[1]);
  const auto index =
      std::make_shared<const CsvIndex>(files_for(o, folder, parts), ',', /*header=*/false);
  const size_t count = columns.size();
  return in_files(file_rows(
                      o.owner(), std::move(columns), index->size(),
                      [index, count](int64_t i) {
                        std::vector<std::string> fields = index->record(i);
                        if (fields.size() != count)
                          fail(ErrorKind::kOs, "'{}': the record has {} fields, not {}",
                               index->file(i), fields.size(), count);
                        Row row;
                        for (std::string& f : fields) row.emplace_back(std::move(f));
                        return row;
                      },
                      folder.path()),
                  index->ends());
}

DatasetPtr line_set(const Options& o,
                    const std::vector<std::pair<std::string, std::string>>& parts) {
  const Folder folder(o.string("dataset_dir"));
  const auto lines = std::make_shared<const LineIndex>(files_for(o, folder, parts));
  return in_files(file_rows(
                      o.owner(), {"text"}, lines->size(),
                      [lines](int64_t i) -> Row { return {Value(lines->line(i))}; }, folder.path()),
                  lines->ends());
}

DatasetPtr open_imdb(const Options& o) {
  struct Texts {
    Folder folder;
    Names files;
    std::vector<int32_t> labels;
  };
  const std::string usage = one_of(o, "usage", {"train", "test", "all"}, "all");
  auto t = std::make_shared<Texts>(Texts{Folder(o.string("dataset_dir")), {}, {}});
  for (const char* part : {"train", "test"}) {
    if (usage != "all" && usage != part) continue;
    for (const auto& [sentiment, label] : {std::pair{"pos", 1}, std::pair{"neg", 0}}) {
      const std::string path = join_path(part, sentiment);
      for (const std::string& f : t->folder.files(path, {".txt"})) {
        t->files.push_back(join_path(path, f));
        t->labels.push_back(label);
      }
    }
  }
  return file_rows(o.owner(), {"text", "label"}, static_cast<int64_t>(t->files.size()),
                   [t](int64_t i) -> Row {
                     const Tensor bytes = t->folder.read(t->files[i]);
                     std::string text(static_cast<const char*>(bytes.raw()), bytes.bytes());
                     if (text.ends_with('\n')) text.pop_back();
                     return {Value(std::move(text)), scalar(t->labels[i])};
                   },
                   t->folder.path(), {{"neg", 0}, {"pos", 1}});
}

DatasetPtr open_enwik9(const Options& o) {
  const Folder folder(o.string("dataset_dir"));
  const auto lines = std::make_shared<const LineIndex>(
      std::vector{folder.open("enwik9")}, [](std::string_view, int64_t) { return true; });
  return in_files(file_rows(
                      o.owner(), {"text"}, lines->size(),
                      [lines](int64_t i) -> Row { return {Value(lines->line(i))}; }, folder.path()),
                  lines->ends());
}

DatasetPtr open_sst2(const Options& o) {
  const std::string usage = one_of(o, "usage", {"train", "test", "dev"}, "train");
  const Folder folder(o.string("dataset_dir"));
  const bool test = usage == "test";
  const auto lines = std::make_shared<const LineIndex>(
      std::vector{folder.open(usage + ".tsv")},
      [](std::string_view line, int64_t number) { return number > 0 && !line.empty(); });
  return in_files(
      file_rows(
          o.owner(), test ? Names{"sentence"} : Names{"sentence", "label"}, lines->size(),
          [lines, test](int64_t i) -> Row {
            std::vector<std::string> f = split(lines->line(i), '\t');
            if (f.size() != 2)
              fail(ErrorKind::kOs, "'{}': a line has {} fields, not 2", lines->file(i), f.size());
            if (test) return {Value(f[1])};
            return {Value(f[0]), Value(f[1])};
          },
          folder.path()),
      lines->ends());
}

const SourceDef kAgNews{
    .name = "AGNewsDataset",
    .doc =
        "AG's news topics (X. Zhang et al., 2015): train.csv and test.csv. `usage`: train, test "
        "or all (None). Columns, strings []: index, title, description.",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kTextArgs),
    .open = [](const Options& o) { return csv_set(o, {"index", "title", "description"}, false); },
};
const SourceDef kAmazonReview{
    .name = "AmazonReviewDataset",
    .doc =
        "Reviews of goods, Polarity or Full (X. Zhang et al., 2015): train.csv and test.csv. "
        "`usage`: train, test or all (None). Columns, strings []: label, title, content.",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kTextArgs),
    .open = [](const Options& o) { return csv_set(o, {"label", "title", "content"}, false); },
};
const SourceDef kDbpedia{
    .name = "DBpediaDataset",
    .doc =
        "Articles by class (X. Zhang et al., 2015): train.csv and test.csv. `usage`: train, "
        "test or all (None). Columns, strings []: class, title, content.",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kTextArgs),
    .open = [](const Options& o) { return csv_set(o, {"class", "title", "content"}, false); },
};
const SourceDef kSogouNews{
    .name = "SogouNewsDataset",
    .doc =
        "Chinese news in Pinyin (X. Zhang et al., 2015): train.csv and test.csv. `usage`: "
        "train, test or all (None). Columns, strings []: index, title, content.",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kTextArgsWorkersLast),
    .open = [](const Options& o) { return csv_set(o, {"index", "title", "content"}, true); },
};
const SourceDef kYahooAnswers{
    .name = "YahooAnswersDataset",
    .doc =
        "Questions with their best answers (X. Zhang et al., 2015): train.csv and test.csv. "
        "`usage`: train, test or all (None). Columns, strings []: class, title, content, "
        "answer.",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kTextArgs),
    .open =
        [](const Options& o) { return csv_set(o, {"class", "title", "content", "answer"}, false); },
};
const SourceDef kYelpReview{
    .name = "YelpReviewDataset",
    .doc =
        "Reviews of businesses, Polarity or Full (X. Zhang et al., 2015): train.csv and "
        "test.csv. `usage`: train, test or all (None). Columns, strings []: label, text.",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kTextArgsWorkersLast),
    .open = [](const Options& o) { return csv_set(o, {"label", "text"}, true); },
};
const SourceDef kPennTreebank{
    .name = "PennTreebankDataset",
    .doc =
        "Lines of ptb.train.txt, ptb.test.txt and ptb.valid.txt (M. Marcus et al., 1993). "
        "`usage`: train, test, valid or all (None). Column: text, string [].",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kTextArgs),
    .open =
        [](const Options& o) {
          return line_set(
              o,
              {{"test", "ptb.test.txt"}, {"train", "ptb.train.txt"}, {"valid", "ptb.valid.txt"}});
        },
};
const SourceDef kWikiText{
    .name = "WikiTextDataset",
    .doc =
        "Lines of wiki.train.tokens, wiki.test.tokens and wiki.valid.tokens (S. Merity et al., "
        "2016). `usage`: train, test, valid or all (None). Column: text, string [].",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kTextArgs),
    .open =
        [](const Options& o) {
          return line_set(o, {{"test", "wiki.test.tokens"},
                              {"train", "wiki.train.tokens"},
                              {"valid", "wiki.valid.tokens"}});
        },
};
const SourceDef kEnWik9{
    .name = "EnWik9Dataset",
    .doc =
        "All lines, empty ones too, of the file enwik9 (M. Mahoney, 2006). Column: text, string "
        "[].",
    .args = {"dataset_dir: string", "num_samples: int? = None", "num_parallel_workers: int? = None",
             "shuffle: any? = True", "num_shards: int? = None", "shard_id: int? = None",
             "cache: any? = None"},
    .open = open_enwik9,
};
const SourceDef kImdb{
    .name = "IMDBDataset",
    .doc =
        "Reviews of films (A. Maas et al., 2011): folders train and test with pos/*.txt and "
        "neg/*.txt. `usage`: train, test or all (None). Columns: text, string []; label, int32 "
        "[], 1 for pos.",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kRowArgs),
    .open = open_imdb,
};
const SourceDef kSst2{
    .name = "SST2Dataset",
    .doc =
        "Sentences with their sentiment (R. Socher et al., 2013): train.tsv, dev.tsv and "
        "test.tsv. `usage`: train (None), dev or test. Columns, strings []: sentence, label; of "
        "test only sentence.",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kTextArgs),
    .open = open_sst2,
};

}  // namespace

SourceDefs text_set_sources() {
  return {&kAgNews,       &kAmazonReview, &kDbpedia, &kSogouNews, &kYahooAnswers, &kYelpReview,
          &kPennTreebank, &kWikiText,     &kEnWik9,  &kImdb,      &kSst2};
}

}  // namespace mycel::data
