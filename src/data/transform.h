// A Transform makes new values of a row from old ones: an image is resized, a line of text is cut
// into words. Each is made from one record, TransformDef, from which the Python class with its
// signature and docstring, the reference page and the tests' list derive:
//
//   const TransformDef kRescale{
//       .name = "vision.Rescale",
//       .doc = "Pixels times `rescale` plus `shift`, as float32.",
//       .args = {"rescale: number", "shift: number"},
//       .make = [](const Options& o) { return each_value([…](const Value& v) -> Value {…}); },
//   };
//
// Rooms of records are folders of src/data (vision, text, audio); they live in libmycel_media, with
// the libraries for foreign formats, which is loaded with the first record that is looked up.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "data/option.h"
#include "data/value.h"

namespace mycel::data {

class Transform {
 public:
  virtual ~Transform() = default;
  // Replaces the values (those of the columns that map() was given). Called from many threads at
  // once. Random ones take all their bits from `draw`, which is a function of seed, epoch, place of
  // the operation and number of the row. Errors name the transform.
  virtual void run(Row* values, Philox& draw) const = 0;
  // Whether the result depends on `draw`.
  virtual bool random() const { return false; }
  // "vision.Resize"; set by make_transform.
  const std::string& name() const { return name_; }
  // "vision.Resize(size=[224, 224], interpolation=BILINEAR)".
  const std::string& description() const { return description_; }
  void set_name(std::string name, std::string description) {
    name_ = std::move(name);
    description_ = std::move(description);
  }

 private:
  std::string name_ = "transform", description_ = "transform";
};

struct TransformDef {
  const char* name = "";  // "vision.Resize"; "transforms.Compose"
  const char* doc = "";  // formula or effect, shapes, dtypes, errors, source; ends with a full stop
  std::vector<const char*> args = {};
  // The first transform of `args` given; an error names it.
  std::shared_ptr<Transform> (*make)(const Options&) = nullptr;
};

// From functions of one value: applied to each of the values. Of a random one, each value gets the
// same draws, so that an image and its mask are cropped alike.
std::shared_ptr<Transform> each_value(std::function<Value(const Value&)> f);
std::shared_ptr<Transform> each_value_randomly(std::function<Value(const Value&, Philox&)> f);
// From a function of the whole row; `random`: whether it uses the draws.
std::shared_ptr<Transform> of_row(std::function<void(Row*, Philox&)> f, bool random);

// By name, from arguments by name. AttributeError with the name that was meant when there is none;
// other errors as Options gives them.
TransformPtr make_transform(const std::string& name, const NamedOptions& args = {});
// The same work in fewer steps where neighbours can be joined (decoding, cropping, resizing and
// normalizing in one pass over the pixels); same draws, results equal within the tolerance that the
// joined form documents.
std::vector<TransformPtr> fused(std::vector<TransformPtr> transforms);
// The transforms one after the other.
void run_all(std::span<const TransformPtr> transforms, Row* values, Philox& draw);

const TransformDef* find_transform(const std::string& name);  // null when there is none
const std::vector<const TransformDef*>& all_transforms();
std::shared_ptr<const OptionSpecs> specs_of(const TransformDef& def);

}  // namespace mycel::data
