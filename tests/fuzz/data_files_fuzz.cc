// Damaged data files in any number: a copy of a file is changed at random and read by its source,
// which must give rows or a UserError. Build with -DMYCEL_SANITIZE=address,undefined:
//   mycel_data_files_fuzz SOURCE ARGUMENT PATH FILE [count [seed]]
// opens SOURCE with ARGUMENT=PATH; FILE is what is changed: PATH itself, or a file below it. As in
//   mycel_data_files_fuzz MnistDataset dataset_dir digits digits/train-images-idx3-ubyte 10000
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <unistd.h>

#include "base/error.h"
#include "base/random.h"
#include "data/source.h"

namespace fs = std::filesystem;

namespace {

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// One to eight changes: bits, bytes, numbers at their limits, pieces cut out, doubled or moved.
std::string changed(std::string data, mycel::Philox* draw) {
  const auto below = [&](size_t n) { return n ? draw->next64() % n : 0; };
  for (uint64_t k = 0, n = 1 + below(8); k < n && !data.empty(); ++k) {
    const size_t at = below(data.size()),
                 length = below(std::min<size_t>(data.size() - at, 64) + 1);
    switch (below(7)) {
      case 0:
        data[at] = static_cast<char>(data[at] ^ 1 << below(8));
        break;
      case 1:
        data[at] = static_cast<char>(draw->next32());
        break;
      case 2:
        for (size_t i = at; i < at + length; ++i) data[i] = below(2) ? '\xff' : '\0';
        break;
      case 3:
        data.erase(at, length);
        break;
      case 4:
        data.insert(below(data.size()), data.substr(at, length));
        break;
      case 5:
        data.resize(at);
        break;
      default:  // a digit or a sign of text
        data[at] = "0123456789-+.,\"'{}[]()<>:\n\t "[below(28)];
    }
  }
  return data;
}

void read_all(const std::string& source, const std::string& argument, const std::string& path) {
  const mycel::data::DatasetPtr d = mycel::data::open_source(source, {{argument, path}});
  const mycel::data::RowsPtr rows = d->iterate(0);
  mycel::data::Job job;
  for (int i = 0; i < 50 && rows->next(&job); ++i) {
    try {
      (void)job();
    } catch (const mycel::UserError&) {  // the next row may be whole
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: %s SOURCE ARGUMENT PATH FILE [count [seed]]\n", argv[0]);
    return 2;
  }
  const std::string source = argv[1], argument = argv[2];
  const fs::path path = argv[3], file = argv[4];
  const long count = argc > 5 ? std::atol(argv[5]) : 1000, seed = argc > 6 ? std::atol(argv[6]) : 0;
  const fs::path folder =
      fs::temp_directory_path() / ("mycel_data_files_fuzz_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const fs::path copy = folder / path.filename();
  fs::copy(path, copy, fs::copy_options::recursive);
  const std::string beside = path.string() + ".db";  // the index of a MindRecord file
  if (fs::exists(beside)) fs::copy(beside, copy.string() + ".db");
  const std::string below = fs::relative(file, path).string();
  const fs::path target = file == path              ? copy
                          : file.string() == beside ? fs::path(copy.string() + ".db")
                                                    : copy / below;
  const std::string whole = read_file(file);
  long refused = 0;
  for (long i = 0; i < count; ++i) {
    mycel::Philox draw(static_cast<uint64_t>(seed), static_cast<uint64_t>(i));
    fs::remove(target);
    std::ofstream(target, std::ios::binary) << changed(whole, &draw);
    try {
      read_all(source, argument, copy.string());
    } catch (const mycel::UserError&) {
      ++refused;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "seed %ld, change %ld: %s\nfile: %s\n", seed, i, e.what(),
                   target.c_str());
      return 1;
    }
  }
  fs::remove_all(folder);
  std::printf("%s: %ld changes, %ld refused when opened\n", source.c_str(), count, refused);
}
