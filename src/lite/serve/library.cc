#include "lite/serve/library.h"

#include "base/shared_library.h"

namespace mycel::lite {

void serve(const ServeOptions& options, const std::function<void(const std::string&)>& ready) {
  static const auto* library = reinterpret_cast<const ServeLibrary* (*)()>(
      symbol_of_library("libmycel_serve.so", "mycel_serve", "serves networks over HTTP"))();
  library->serve(options, ready);
}

}  // namespace mycel::lite
