#include "lite/convert.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file_io.h"

namespace mycel::lite {
namespace {

std::string head_of(const std::string& path) {
  InputFile file(path);
  std::string head(std::min<size_t>(file.size(), 64), '\0');
  file.read_at(0, head.data(), head.size());
  return head;
}

template <typename Format>
const Format& named(std::span<const Format> formats, const std::string& name, const char* what) {
  std::string all;
  for (const Format& f : formats) {
    if (name == f.name) return f;
    all += (all.empty() ? "" : ", ") + std::string(f.name);
  }
  value_error("there is no format '{}' to {}; formats: {}", name, what, all);
}

const Reader& reader_of(const std::string& path, const ConvertOptions& options) {
  if (!options.from.empty()) return named(readers(), options.from, "read");
  const std::string head = head_of(path);
  std::string all;
  for (const Reader& r : readers()) {
    if (r.is(path, head)) return r;
    all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", r.name, r.doc);
  }
  throw UserError(ErrorKind::kValue, fmt::format("'{}' is no network in a known format", path),
                  fmt::format("Formats: {}.", all));
}

}  // namespace

ir::Types with_shapes(const std::vector<std::string>& names, ir::Types types,
                      const ConvertOptions& options) {
  for (const auto& [name, shape] : options.shapes) {
    auto it = std::find(names.begin(), names.end(), name);
    if (name.empty() && names.size() == 1) it = names.begin();
    if (it == names.end()) {
      value_error("a shape is given for '{}'; inputs: {}", name, fmt::join(names, ", "));
    }
    ir::Type& type = types[static_cast<size_t>(it - names.begin())];
    bool fits = shape.rank() == type.shape.rank();
    for (int d = 0; fits && d < shape.rank(); ++d)
      fits = type.shape[d] == kUnknownDim || type.shape[d] == shape[d];
    if (!fits) value_error("input '{}' is {}; the shape {} is given", *it, type.str(), shape.str());
    type.shape = shape;
  }
  return types;
}

runtime::TracedModel read_network(const std::string& path, const ConvertOptions& options) {
  return reader_of(path, options).read(path, options);
}

std::string reader_name(const std::string& path) { return reader_of(path, {}).name; }

std::vector<std::string> convert(const std::string& from, const std::string& to,
                                 const ConvertOptions& options) {
  const Writer& writer = named(writers(), options.to, "write");
  if (writer.from_file) return writer.from_file(from, reader_of(from, options), to, options);
  std::vector<std::string> report;
  runtime::TracedModel model = read_network(from, options);
  for (const Change& c : changes()) model = c.run(std::move(model), options, report);
  for (std::string& line : writer.write(model, to, options)) report.push_back(std::move(line));
  return report;
}

}  // namespace mycel::lite
