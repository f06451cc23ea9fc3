#include "data/transform.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "data/media.h"
#include "data/registry.h"

namespace mycel::data {
namespace {

class EachValue final : public Transform {
 public:
  explicit EachValue(std::function<Value(const Value&)> f) : f_(std::move(f)) {}
  void run(Row* values, Philox&) const override {
    for (Value& v : *values) v = f_(v);
  }

 private:
  std::function<Value(const Value&)> f_;
};

class EachValueRandomly final : public Transform {
 public:
  explicit EachValueRandomly(std::function<Value(const Value&, Philox&)> f) : f_(std::move(f)) {}
  bool random() const override { return true; }
  void run(Row* values, Philox& draw) const override {
    const Philox start = draw;
    for (Value& v : *values) {
      draw = start;
      v = f_(v, draw);
    }
  }

 private:
  std::function<Value(const Value&, Philox&)> f_;
};

class OfRow final : public Transform {
 public:
  OfRow(std::function<void(Row*, Philox&)> f, bool random) : f_(std::move(f)), random_(random) {}
  bool random() const override { return random_; }
  void run(Row* values, Philox& draw) const override { f_(values, draw); }

 private:
  std::function<void(Row*, Philox&)> f_;
  bool random_;
};

}  // namespace

std::shared_ptr<Transform> each_value(std::function<Value(const Value&)> f) {
  return std::make_shared<EachValue>(std::move(f));
}
std::shared_ptr<Transform> each_value_randomly(std::function<Value(const Value&, Philox&)> f) {
  return std::make_shared<EachValueRandomly>(std::move(f));
}
std::shared_ptr<Transform> of_row(std::function<void(Row*, Philox&)> f, bool random) {
  return std::make_shared<OfRow>(std::move(f), random);
}

const std::vector<const TransformDef*>& all_transforms() { return media().transforms; }

const TransformDef* find_transform(const std::string& name) {
  return find_record(all_transforms(), name);
}
std::shared_ptr<const OptionSpecs> specs_of(const TransformDef& def) {
  return specs_of_record(def);
}

TransformPtr make_transform(const std::string& name, const NamedOptions& args) {
  const TransformDef& def = record_named(all_transforms(), name, "transform");
  std::shared_ptr<Transform> made = def.make(Options(specs_of(def), args));
  std::vector<std::string> given;
  for (const auto& [key, value] : args) given.push_back(key + "=" + value.str());
  made->set_name(name, fmt::format("{}({})", name, fmt::join(given, ", ")));
  return made;
}

std::vector<TransformPtr> fused(std::vector<TransformPtr> transforms) {
  return media().fused ? media().fused(std::move(transforms)) : transforms;
}

void run_all(std::span<const TransformPtr> transforms, Row* values, Philox& draw) {
  for (const TransformPtr& t : transforms) {
    try {
      t->run(values, draw);
    } catch (UserError& e) {
      e.name(t->name());
      throw;
    }
  }
}

}  // namespace mycel::data
