#include "insight/library.h"

#include "base/shared_library.h"

namespace mycel::insight {
namespace {

const Library& library() {
  static const Library* loaded = reinterpret_cast<const Library* (*)()>(
      symbol_of_library("libmycel_insight.so", "mycel_insight", "reads and serves records"))();
  return *loaded;
}

}  // namespace

std::unique_ptr<Index> open_index(const std::string& folder, const IndexOptions& options) {
  return library().open_index(folder, options);
}

void serve(const ServerOptions& options, const std::function<void(const std::string&)>& ready) {
  library().serve(options, ready);
}

}  // namespace mycel::insight
