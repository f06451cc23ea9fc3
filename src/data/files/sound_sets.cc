// Published data sets of sound.
#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "data/files/arguments.h"
#include "data/files/gtzan_lists.h"
#include "data/files/lines.h"
#include "data/files/records.h"
#include "data/files/rows.h"
#include "data/files/sound.h"

namespace mycel::data {
namespace {

// Sound files, each with the values behind the waveform and the rate.
struct Sounds {
  Folder folder;
  std::vector<std::string> files;
  std::vector<Row> values;
};
using SoundsPtr = std::shared_ptr<Sounds>;

SoundsPtr sounds_in(const Options& o) {
  return std::make_shared<Sounds>(Sounds{Folder(o.string("dataset_dir")), {}, {}});
}

DatasetPtr rows_of(const Options& o, const SoundsPtr& s, std::vector<std::string> columns,
                   bool signed_rate) {
  columns.insert(columns.begin(), {"waveform", "sample_rate"});
  return file_rows(
      o.owner(), std::move(columns), static_cast<int64_t>(s->files.size()),
      [s, signed_rate](int64_t i) {
        const Sound sound = read_sound(*s->folder.open(s->files[i]));
        Row row = {sound.waveform, signed_rate ? scalar(static_cast<int32_t>(sound.rate))
                                               : scalar(static_cast<uint32_t>(sound.rate))};
        row.insert(row.end(), s->values[i].begin(), s->values[i].end());
        return row;
      },
      s->folder.path());
}

std::vector<std::string> lines_of(const BytesPtr& file) {
  std::vector<std::string> out;
  Scanner scan(file);
  std::string line;
  while (scan.line(&line)) {
    if (!trim(line).empty()) out.emplace_back(trim(line));
  }
  return out;
}

[[noreturn]] void bad_line(const Options& o, const BytesPtr& file, const std::string& line) {
  fail(ErrorKind::kOs, "{}: '{}': a line does not parse: {}", o.owner(), file->name(),
       line.substr(0, 80));
}

DatasetPtr open_ljspeech(const Options& o) {
  const SoundsPtr s = sounds_in(o);
  const BytesPtr list = s->folder.open("metadata.csv");
  for (const std::string& line : lines_of(list)) {
    const std::vector<std::string> f = split(line, '|');
    if (f.size() != 3) bad_line(o, list, line);
    s->files.push_back("wavs/" + f[0] + ".wav");
    s->values.push_back({Value(f[1]), Value(f[2])});
  }
  return rows_of(o, s, {"transcription", "normalized_transcription"}, true);
}

DatasetPtr open_speech_commands(const Options& o) {
  const std::string usage = one_of(o, "usage", {"train", "test", "valid", "all"}, "all");
  const SoundsPtr s = sounds_in(o);
  std::set<std::string> valid, test;
  const auto names = [&](const char* file, std::set<std::string>* out) {
    for (const std::string& line : lines_of(s->folder.open(file))) out->insert(line);
  };
  if (usage == "train" || usage == "valid") names("validation_list.txt", &valid);
  if (usage == "train" || usage == "test") names("testing_list.txt", &test);
  for (const std::string& word : s->folder.folders()) {
    if (word == "_background_noise_") continue;
    for (const std::string& f : s->folder.files(word, {".wav"})) {
      const std::string path = join_path(word, f);
      if ((usage == "valid" && !valid.contains(path)) ||
          (usage == "test" && !test.contains(path)) ||
          (usage == "train" && (valid.contains(path) || test.contains(path))))
        continue;
      const size_t mark = f.find("_nohash_");
      int64_t number = 0;
      if (mark == f.npos || !parse_int(f.substr(mark + 8, f.size() - mark - 12), &number))
        fail(ErrorKind::kOs, "{}: '{}' is not named <speaker>_nohash_<n>.wav", o.owner(),
             s->folder.path(path));
      s->files.push_back(path);
      s->values.push_back(
          {Value(word), Value(f.substr(0, mark)), scalar(static_cast<int32_t>(number))});
    }
  }
  return rows_of(o, s, {"label", "speaker_id", "utterance_number"}, true);
}

DatasetPtr open_yesno(const Options& o) {
  const SoundsPtr s = sounds_in(o);
  for (const std::string& f : s->folder.files("", {".wav"})) {
    std::vector<int32_t> answers;
    for (const std::string& word : split(f.substr(0, f.size() - 4), '_')) {
      if (word != "0" && word != "1")
        fail(ErrorKind::kOs, "{}: '{}' is not named 0_1_….wav", o.owner(), s->folder.path(f));
      answers.push_back(word == "1");
    }
    s->files.push_back(f);
    s->values.push_back({Tensor::from(answers, {static_cast<int64_t>(answers.size())})});
  }
  return rows_of(o, s, {"label"}, true);
}

DatasetPtr open_gtzan(const Options& o) {
  const std::string usage = one_of(o, "usage", {"train", "valid", "test", "all"}, "all");
  const SoundsPtr s = sounds_in(o);
  for (const std::string& genre : s->folder.folders()) {
    for (const std::string& f : s->folder.files(genre, {".wav"})) {
      if (usage != "all" && !in_gtzan_part(usage, f.substr(0, f.size() - 4))) continue;
      s->files.push_back(join_path(genre, f));
      s->values.push_back({Value(genre)});
    }
  }
  return rows_of(o, s, {"label"}, false);
}

DatasetPtr open_cmu_arctic(const Options& o) {
  const std::string name = one_of(o, "name",
                                  {"aew", "ahw", "aup", "awb", "axb", "bdl", "clb", "eey", "fem",
                                   "gka", "jmk", "ksp", "ljm", "lnh", "rms", "rxr", "slp", "slt"},
                                  "aew");
  const SoundsPtr s = sounds_in(o);
  const std::string folder = "cmu_us_" + name + "_arctic";
  const BytesPtr list = s->folder.open(folder + "/etc/txt.done.data");
  for (const std::string& line : lines_of(list)) {  // ( arctic_a0001 "Text." )
    const size_t id = line.find("arctic_"), begin = line.find('"'), end = line.rfind('"');
    const size_t stop = id == line.npos ? id : line.find(' ', id);
    if (stop == line.npos || begin == end || stop > begin) bad_line(o, list, line);
    const std::string file = line.substr(id, stop - id);
    s->files.push_back(fmt::format("{}/wav/{}.wav", folder, file));
    s->values.push_back({Value(line.substr(begin + 1, end - begin - 1)), Value(file.substr(7))});
  }
  return rows_of(o, s, {"transcript", "utterance_id"}, false);
}

DatasetPtr open_libri_tts(const Options& o) {
  const std::vector<std::string> all = {"dev-clean",      "dev-other",       "test-clean",
                                        "test-other",     "train-clean-100", "train-clean-360",
                                        "train-other-500"};
  std::vector<std::string> allowed = all;
  allowed.push_back("all");
  const std::string usage = one_of(o, "usage", allowed, "all");
  const SoundsPtr s = sounds_in(o);
  for (const std::string& part : all) {
    if (usage != "all" && usage != part) continue;
    if (usage == "all" && !s->folder.has_folder(part)) continue;  // it may hold some parts
    for (const std::string& speaker : s->folder.folders(part)) {
      for (const std::string& chapter : s->folder.folders(join_path(part, speaker))) {
        const std::string path = fmt::format("{}/{}/{}", part, speaker, chapter);
        const BytesPtr list =
            s->folder.open(fmt::format("{}/{}_{}.trans.tsv", path, speaker, chapter));
        int64_t speaker_id = 0, chapter_id = 0;
        if (!parse_int(speaker, &speaker_id) || !parse_int(chapter, &chapter_id))
          fail(ErrorKind::kOs, "{}: the folder '{}' is not named <speaker>/<chapter>", o.owner(),
               s->folder.path(path));
        for (const std::string& line : lines_of(list)) {
          const std::vector<std::string> f = split(line, '\t');
          if (f.size() != 3) bad_line(o, list, line);
          s->files.push_back(fmt::format("{}/{}.wav", path, f[0]));
          s->values.push_back(
              {Value(f[1]), Value(f[2]), label(speaker_id), label(chapter_id), Value(f[0])});
        }
      }
    }
  }
  return rows_of(o, s,
                 {"original_text", "normalized_text", "speaker_id", "chapter_id", "utterance_id"},
                 false);
}

// Talks cut by time.
struct Talks {
  Folder folder;
  struct Cut {
    std::string file, transcript, talk, speaker, identifier;
    double begin, end;  // seconds
  };
  std::vector<Cut> cuts;
};

DatasetPtr open_tedlium(const Options& o) {
  const std::string release =
      one_of(o, "release", {"release1", "release2", "release3"}, "release1");
  const bool third = release == "release3";
  const std::string usage = third ? one_of(o, "usage", {"all"}, "all")
                                  : one_of(o, "usage", {"train", "test", "dev", "all"}, "all");
  const std::string extension = one_of(o, "extensions", {".sph"}, ".sph");
  auto t = std::make_shared<Talks>(Talks{Folder(o.string("dataset_dir")), {}});
  std::vector<std::string> parts = {"data"};
  if (!third)
    parts = usage == "all" ? std::vector<std::string>{"dev", "test", "train"}
                           : std::vector<std::string>{usage};
  for (const std::string& part : parts) {
    for (const std::string& f : t->folder.files(part + "/stm", {".stm"})) {
      const BytesPtr list = t->folder.open(part + "/stm/" + f);
      for (const std::string& line : lines_of(list)) {
        // talk, channel, speaker, begin, end, identifier, words
        std::vector<std::string> words = split(line, ' ');
        double begin = 0, end = 0;
        if (words.size() < 7 || !parse_real(words[3], &begin) || !parse_real(words[4], &end) ||
            !(begin >= 0 && begin <= end))
          bad_line(o, list, line);
        std::string transcript = words[6];
        for (size_t w = 7; w < words.size(); ++w) transcript += " " + words[w];
        if (transcript == "ignore_time_segment_in_scoring") continue;
        t->cuts.push_back({part + "/sph/" + words[0] + extension, transcript, words[0], words[2],
                           words[5], begin, end});
      }
    }
  }
  return file_rows(
      o.owner(), {"waveform", "sample_rate", "transcript", "talk_id", "speaker_id", "identifier"},
      static_cast<int64_t>(t->cuts.size()),
      [t](int64_t i) -> Row {
        const Talks::Cut& c = t->cuts[i];
        const BytesPtr file = t->folder.open(c.file);
        const int64_t rate = read_sound(*file, 0, 0).rate;
        const auto first = static_cast<int64_t>(c.begin * static_cast<double>(rate));
        const auto last = static_cast<int64_t>(c.end * static_cast<double>(rate));
        const Sound sound = read_sound(*file, first, last - first);
        return {sound.waveform,      scalar(static_cast<int32_t>(rate)),
                Value(c.transcript), Value(c.talk),
                Value(c.speaker),    Value(c.identifier)};
      },
      t->folder.path());
}

const SourceDef kLjSpeech{
    .name = "LJSpeechDataset",
    .doc =
        "One voice reading (K. Ito, 2017): metadata.csv and wavs/*.wav. Columns: waveform "
        "float32 [channels, frames]; sample_rate int32 []; transcription, "
        "normalized_transcription, strings [].",
    .args = with({"dataset_dir: string"}, kRowArgs),
    .open = open_ljspeech,
};
const SourceDef kSpeechCommands{
    .name = "SpeechCommandsDataset",
    .doc =
        "Single words (P. Warden, 2018): <word>/<speaker>_nohash_<n>.wav, validation_list.txt "
        "and testing_list.txt. `usage`: train, test, valid or all (None). Columns: waveform "
        "float32 [channels, frames]; sample_rate int32 []; label, speaker_id, strings []; "
        "utterance_number int32 [].",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kRowArgs),
    .open = open_speech_commands,
};
const SourceDef kYesNo{
    .name = "YesNoDataset",
    .doc =
        "Eight times yes or no in Hebrew: 0_1_….wav, in order of names. Columns: waveform "
        "float32 [channels, frames]; sample_rate int32 []; label int32 [8], 1 for yes.",
    .args = with({"dataset_dir: string"}, kRowArgs),
    .open = open_yesno,
};
const SourceDef kGtzan{
    .name = "GTZANDataset",
    .doc =
        "Music by genre (G. Tzanetakis, 2002): <genre>/<genre>.<n>.wav. `usage`: train, valid, "
        "test (the parts without repeated songs of C. Kereliuk et al., 2015) or all (None). "
        "Columns: waveform float32 [channels, frames]; sample_rate uint32 []; label, string [].",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kRowArgs),
    .open = open_gtzan,
};
const SourceDef kCmuArctic{
    .name = "CMUArcticDataset",
    .doc =
        "Read sentences (J. Kominek and A. Black, 2003): cmu_us_<name>_arctic/etc/txt.done.data "
        "and wav/*.wav. `name`: the voice, aew (None) to slt. Columns: waveform float32 "
        "[channels, frames]; sample_rate uint32 []; transcript, utterance_id, strings [].",
    .args = with({"dataset_dir: string", "name: string? = None"}, kRowArgs),
    .open = open_cmu_arctic,
};
const SourceDef kLibriTts{
    .name = "LibriTTSDataset",
    .doc =
        "Read books (H. Zen et al., 2019): <part>/<speaker>/<chapter>/*.wav and "
        "<speaker>_<chapter>.trans.tsv. `usage`: a part (dev-clean and so on) or all (None). "
        "Columns: waveform float32 [channels, frames]; sample_rate uint32 []; original_text, "
        "normalized_text, strings []; speaker_id, chapter_id, uint32 []; utterance_id, string "
        "[].",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kRowArgs),
    .open = open_libri_tts,
};
const SourceDef kTedlium{
    .name = "TedliumDataset",
    .doc =
        "Talks (A. Rousseau et al., 2012): <part>/stm/*.stm and <part>/sph/*.sph, a row a "
        "segment. `release`: release1, release2 or release3 (one part, data); `usage`: train, "
        "test, dev or all (None). Columns: waveform float32 [channels, frames]; sample_rate "
        "int32 []; transcript, talk_id, speaker_id, identifier, strings [].",
    .args = with({"dataset_dir: string", "release: string", "usage: string? = None",
                  "extensions: string? = None"},
                 kRowArgs),
    .open = open_tedlium,
};

}  // namespace

SourceDefs sound_set_sources() {
  return {&kLjSpeech, &kSpeechCommands, &kYesNo, &kGtzan, &kCmuArctic, &kLibriTts, &kTedlium};
}

}  // namespace mycel::data
