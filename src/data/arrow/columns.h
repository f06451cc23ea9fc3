// Columns of Arrow batches as values of rows. Numbers and bools become tensors (), strings strings
// (), binary uint8 [bytes], lists arrays of their elements; dates, times and durations are the
// integers that Arrow stores. Dictionaries give what they stand for.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data/arrow/c_data.h"
#include "data/option.h"
#include "data/value.h"

namespace mycel::data {

struct ArrowType {
  enum class Kind : uint8_t { kNumber, kBool, kText, kBinary, kFixedBinary, kList, kFixedList };
  Kind kind = Kind::kNumber;
  DType dtype = DType::kInt64;
  bool wide = false;                         // offsets of 64 bits
  int64_t width = 0;                         // of fixed binaries and lists
  bool dictionary = false;                   // numbers that are places in `element`
  std::shared_ptr<const ArrowType> element;  // of lists and dictionaries
  std::string str() const;                   // "list<int64>"
};

// ValueError naming `column` for a type that rows cannot hold.
ArrowType arrow_type(const ArrowSchema& schema, const std::string& column);

// What stands in for nulls, by column: a number, a bool or a string.
using ArrowFill = std::map<std::string, Option>;

// The columns of one batch, whose rows are read in place.
class ArrowBatch {
 public:
  // `batch` is an array of structs, `schema` its type; MYCEL_CHECK that they fit together.
  ArrowBatch(Arrowed<ArrowSchema> schema, Arrowed<ArrowArray> batch);
  int64_t rows() const { return batch_->length; }
  const std::vector<std::string>& columns() const { return names_; }
  const std::vector<ArrowType>& types() const { return types_; }
  // Bytes that the columns take, about.
  size_t bytes() const;
  // ValueError naming the column for a null that nothing stands in for, and for lists of unequal
  // length in a list.
  Value value(size_t column, int64_t row, const ArrowFill& fill) const;

 private:
  Arrowed<ArrowArray> batch_;
  std::vector<std::string> names_;
  std::vector<ArrowType> types_;
};

// Names and types of the columns of a schema.
std::vector<std::pair<std::string, ArrowType>> arrow_columns(const ArrowSchema& schema);

}  // namespace mycel::data
