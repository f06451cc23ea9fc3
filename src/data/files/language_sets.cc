// Published data sets of language: tagged sentences, questions with answers, pairs of sentences.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/files/arguments.h"
#include "data/files/lines.h"
#include "data/files/records.h"
#include "data/files/rows.h"
#include "data/group_order.h"

namespace mycel::data {
namespace {

using nlohmann::json;

// Sentences of lines "word tag tag", an empty line in between; three arrays a row.
DatasetPtr tagged(const Options& o, std::vector<std::string> columns, char between,
                  const std::vector<std::pair<std::string, std::string>>& parts) {
  std::vector<std::string> allowed;
  for (const auto& [usage, _] : parts) allowed.push_back(usage);
  allowed.push_back("all");
  const std::string usage = one_of(o, "usage", allowed, "all");
  const Folder folder(o.string("dataset_dir"));
  std::vector<BytesPtr> files;
  for (const auto& [name, file] : parts) {
    if (usage == "all" || usage == name) files.push_back(folder.open(file));
  }
  bool between_sentences = true;
  const auto lines =
      std::make_shared<const LineIndex>(files, [&](std::string_view line, int64_t number) {
        const bool empty = trim(line).empty();
        const bool first = !empty && (between_sentences || number == 0);
        between_sentences = empty;
        return first;
      });
  return in_files(file_rows(
                      o.owner(), std::move(columns), lines->size(),
                      [lines, between](int64_t i) {
                        std::vector<std::string> parts[3];
                        for (const std::string& line : split(lines->block(i), '\n')) {
                          if (trim(line).empty()) break;
                          std::vector<std::string> f = split(trim(line), between);
                          if (f.size() != 3)
                            fail(ErrorKind::kOs, "'{}': a line has {} fields, not 3: '{}'",
                                 lines->file(i), f.size(), line);
                          for (int k = 0; k < 3; ++k) parts[k].push_back(std::move(f[k]));
                        }
                        Row row;
                        for (auto& p : parts) row.push_back(Value::list(std::move(p)));
                        return row;
                      },
                      folder.path()),
                  lines->ends());
}

struct Question {
  size_t context;
  std::string question;
  std::vector<std::string> texts;
  std::vector<uint32_t> starts;
};
struct Questions {
  std::vector<std::string> contexts;
  std::vector<Question> all;
};

void read_squad(const Bytes& file, Questions* out) {
  const json j = json::parse(file.text(), nullptr, false);
  if (j.is_discarded()) fail(ErrorKind::kOs, "'{}' is not JSON", file.name());
  try {
    for (const json& article : j.at("data")) {
      for (const json& paragraph : article.at("paragraphs")) {
        out->contexts.push_back(paragraph.at("context").get<std::string>());
        for (const json& qa : paragraph.at("qas")) {
          Question q{out->contexts.size() - 1, qa.at("question").get<std::string>(), {}, {}};
          for (const json& a : qa.at("answers")) {
            q.texts.push_back(a.at("text").get<std::string>());
            q.starts.push_back(a.at("answer_start").get<uint32_t>());
          }
          if (q.texts.empty()) {
            q.texts = {""};
            q.starts = {~uint32_t{0}};
          }
          out->all.push_back(std::move(q));
        }
      }
    }
  } catch (const json::exception&) {
    fail(ErrorKind::kOs, "'{}' has not the members of SQuAD", file.name());
  }
}

DatasetPtr open_squad(const Options& o) {
  const std::string usage = one_of(o, "usage", {"train", "dev", "all"}, "all");
  const Folder folder(o.string("dataset_dir"));
  auto questions = std::make_shared<Questions>();
  for (const char* part : {"train", "dev"}) {
    if (usage != "all" && usage != part) continue;
    bool found = false;
    for (const std::string& f : folder.files("", {".json"})) {
      if (!f.starts_with(std::string(part) + "-v")) continue;
      read_squad(*folder.open(f), questions.get());
      found = true;
    }
    if (!found)
      fail(ErrorKind::kOs, "{}: there is no file '{}'", o.owner(),
           folder.path(std::string(part) + "-v*.json"));
  }
  return file_rows(
      o.owner(), {"context", "question", "text", "answer_start"},
      static_cast<int64_t>(questions->all.size()),
      [questions](int64_t i) -> Row {
        const Question& q = questions->all[i];
        return {Value(questions->contexts[q.context]), Value(q.question), Value::list(q.texts),
                Tensor::from(q.starts, {static_cast<int64_t>(q.starts.size())})};
      },
      folder.path());
}

// The members that a row of CLUE holds; "target/span1_index" is a member of a member.
std::vector<std::pair<std::string, std::string>> clue_members(const std::string& task, bool test) {
  std::vector<std::string> names;
  if (task == "AFQMC" || task == "CMNLI") {
    names = {"sentence1", "sentence2", test ? "id" : "label"};
  } else if (task == "TNEWS") {
    names = {"sentence", "keywords"};
    if (test) names.push_back("id");
    if (!test) names.insert(names.end(), {"label", "label_desc"});
  } else if (task == "IFLYTEK") {
    names = {"sentence"};
    if (test) names.push_back("id");
    if (!test) names.insert(names.end(), {"label", "label_des"});
  } else if (task == "WSC") {
    names = {"idx",
             "text",
             "target/span1_index",
             "target/span1_text",
             "target/span2_index",
             "target/span2_text"};
    if (!test) names.push_back("label");
  } else {  // CSL
    names = {"abst", "id", "keyword"};
    if (!test) names.push_back("label");
  }
  std::vector<std::pair<std::string, std::string>> out;  // column, pointer into the JSON
  for (const std::string& n : names) out.emplace_back(n.substr(n.rfind('/') + 1), "/" + n);
  std::sort(out.begin(), out.end());
  return out;
}

Value clue_value(const json& v, const std::string& file, const std::string& column) {
  if (v.is_string()) return Value(v.get<std::string>());
  if (v.is_number_unsigned()) return scalar(v.get<uint32_t>());
  if (v.is_array() && std::all_of(v.begin(), v.end(), [](const json& e) { return e.is_string(); }))
    return Value::list(v.get<std::vector<std::string>>());
  fail(ErrorKind::kOs, "'{}': member '{}' is {}; CLUE has texts, numbers and lists of texts there",
       file, column, v.dump());
}

DatasetPtr open_clue(const Options& o) {
  const std::string task =
      one_of(o, "task", {"AFQMC", "TNEWS", "IFLYTEK", "CMNLI", "WSC", "CSL"}, "AFQMC");
  const std::string usage = one_of(o, "usage", {"train", "test", "eval"}, "train");
  const auto members = clue_members(task, usage == "test");
  const auto paths = find_files(o.strings("dataset_files"), o.owner());
  const auto lines = std::make_shared<const LineIndex>(open_files(paths));
  std::vector<std::string> columns;
  for (const auto& [column, _] : members) columns.push_back(column);
  return in_files(file_rows(
                      o.owner(), columns, lines->size(),
                      [lines, members](int64_t i) {
                        const json j = json::parse(lines->line(i), nullptr, false);
                        Row row;
                        for (const auto& [column, path] : members) {
                          const json::json_pointer at(path);
                          if (!j.is_object() || !j.contains(at))
                            fail(ErrorKind::kOs,
                                 "'{}': the line is no JSON object with the member '{}'",
                                 lines->file(i), path.substr(1));
                          row.push_back(clue_value(j[at], lines->file(i), column));
                        }
                        return row;
                      },
                      paths[0]),
                  lines->ends());
}

const SourceDef kConll{
    .name = "CoNLL2000Dataset",
    .doc =
        "Sentences with parts of speech and chunks (E. Tjong Kim Sang and S. Buchholz, 2000): "
        "train.txt and test.txt. `usage`: train, test or all (None). Columns, strings [words]: "
        "word, pos_tag, chunk_tag.",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kTextArgsWorkersLast),
    .open =
        [](const Options& o) {
          return tagged(o, {"word", "pos_tag", "chunk_tag"}, ' ',
                        {{"test", "test.txt"}, {"train", "train.txt"}});
        },
};
const SourceDef kUdpos{
    .name = "UDPOSDataset",
    .doc =
        "Sentences with parts of speech (Universal Dependencies): en-ud-tag.v2.train.txt, "
        "…test.txt and …dev.txt. `usage`: train, test, valid or all (None). Columns, strings "
        "[words]: word, universal, stanford.",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kTextArgsWorkersLast),
    .open =
        [](const Options& o) {
          return tagged(o, {"word", "universal", "stanford"}, '\t',
                        {{"valid", "en-ud-tag.v2.dev.txt"},
                         {"test", "en-ud-tag.v2.test.txt"},
                         {"train", "en-ud-tag.v2.train.txt"}});
        },
};
const SourceDef kSquad{
    .name = "SQuADDataset",
    .doc =
        "Questions on paragraphs (P. Rajpurkar et al., 2016 and 2018): train-v1.1.json and "
        "dev-v1.1.json, or v2.0. `usage`: train, dev or all (None). Columns: context, string "
        "[]; question, string []; text, strings [answers]; answer_start, uint32 [answers]. A "
        "question without answers has the text '' at 2^32 - 1.",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kTextArgs),
    .open = open_squad,
};
const SourceDef kClue{
    .name = "CLUEDataset",
    .doc =
        "Chinese language understanding (L. Xu et al., 2020), a JSON object a line. `task`: "
        "AFQMC, TNEWS, IFLYTEK, CMNLI, WSC or CSL; `usage`: train, test or eval. Columns: the "
        "members of the task in order of names; texts as string [], numbers as uint32 [], "
        "keyword of CSL as strings [n].",
    .args = with({"dataset_files: strings", "task: string = 'AFQMC'", "usage: string = 'train'"},
                 kTextArgs),
    .open = open_clue,
};

}  // namespace

SourceDefs language_set_sources() { return {&kConll, &kUdpos, &kSquad, &kClue}; }

}  // namespace mycel::data
