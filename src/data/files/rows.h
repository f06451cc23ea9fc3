// What the sources of this room are built from: rows made by a function of their number, values in
// the dtypes of the published data sets, and errors that name the source, the sample and the file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "data/files/folder.h"
#include "data/option.h"

namespace mycel::data {

using MakeRow = std::function<Row(int64_t i)>;

// Names of classes and their labels.
using Classes = std::vector<std::pair<std::string, int64_t>>;

// Rows 0 to size - 1; what `make` throws is given the source and the number of the sample.
// ValueError when there are none: `where` is what was looked at.
DatasetPtr file_rows(const std::string& owner, std::vector<std::string> columns, int64_t size,
                     MakeRow make, const std::string& where, Classes classes = {});

template <typename T>
Value scalar(T v) {
  Tensor t = Tensor::empty(dtype_of<T>(), Shape{});
  *static_cast<T*>(t.mutable_raw()) = v;
  return t;
}
inline Value label(int64_t v) { return scalar(static_cast<uint32_t>(v)); }

// An encoded image as it is, or decoded by vision.Decode. Errors of decoding name `file`.
class ImageReader {
 public:
  explicit ImageReader(bool decode);
  Value operator()(const Folder& folder, const std::string& relative) const;
  Value operator()(Tensor encoded, const std::string& file) const;

 private:
  TransformPtr decode_;  // null: as it is
};

// The argument `name`, one of `allowed`, or `fallback` when it is None; ValueError listing them.
std::string one_of(const Options& o, const char* name, const std::vector<std::string>& allowed,
                   const std::string& fallback);

// The pairs of a dict given as a list of (text, value) pairs.
std::vector<std::pair<std::string, Option>> pairs(const Options& o, const char* name);

// A number written in decimal, whole; false when it is anything else or too large.
bool parse_int(std::string_view text, int64_t* out);
bool parse_real(std::string_view text, double* out);
std::vector<std::string> split(std::string_view text, char at);
std::string_view trim(std::string_view text);

}  // namespace mycel::data
