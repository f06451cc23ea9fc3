#include "insight/collector.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "insight/dataset_json.h"
#include "nn/cell.h"

namespace mycel::insight {
namespace {

bool holds_images(const Tensor& t) {
  return t && t.rank() == 4 && (t.dim(1) == 1 || t.dim(1) == 3) && t.size() > 0 &&
         !is_complex(t.dtype());
}

std::string json_of(const HParams& facts, const std::string& state) {
  nlohmann::ordered_json out;
  for (const auto& [key, value] : facts)
    std::visit([&, &k = key](const auto& v) { out[k] = v; }, value);
  out["state"] = state;
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Collector::Collector(std::string folder, Options options)
    : folder_(std::move(folder)), options_(std::move(options)) {
  if (options_.every < 1)
    value_error("Collector: 'every' must be at least 1, got {}", options_.every);
  if (options_.parameters < 0)
    value_error("Collector: 'parameters' must not be negative, got {}", options_.parameters);
}

HParams Collector::facts_of(const train::RunContext& run) const {
  HParams facts = options_.facts;
  facts["epoch"] = static_cast<double>(run.epochs);
  facts["batch_num"] = static_cast<double>(run.batches);
  if (run.network) {
    facts["network"] = run.network->class_name();
    double count = 0;
    for (const nn::Parameter& p : run.network->trainable_params())
      count += static_cast<double>(p->value.size());
    facts["parameters"] = count;
  }
  if (run.optimizer) {
    facts["optimizer"] = run.optimizer->class_name();
    try {
      facts["learning_rate"] = train::learning_rate(*run.optimizer);
    } catch (const UserError&) {
      facts["learning_rate"] = std::string("schedule");
    }
  }
  return facts;
}

void Collector::on_train_begin(train::RunContext& run) {
  recorder_ = std::make_unique<Recorder>(folder_, options_.recorder);
  first_ = true;
  recorder_->record("environment", environment_json());
  const HParams facts = facts_of(run);
  recorder_->hparams(facts);
  recorder_->record("lineage/train", json_of(facts, "running"));
  if (options_.pipeline) recorder_->watch("dataset_graph/train", states_of(options_.pipeline));
}

void Collector::on_train_step_end(train::RunContext& run) {
  if (!first_ && !run.reached(options_.every)) return;
  first_ = false;
  recorder_->scalar("loss/auto", run.loss(), run.step);
  if (options_.images && !run.batch.empty() && holds_images(run.batch[0]))
    recorder_->image("input_data/auto", run.batch[0], run.step);
  if (!run.network) return;
  int64_t left = options_.parameters;
  for (const nn::Parameter& p : run.network->trainable_params()) {
    if (left-- == 0) break;
    recorder_->histogram(p->name + "/auto", p->value, run.step);
  }
}

void Collector::on_train_epoch_end(train::RunContext& run) {
  for (const auto& [name, value] : run.metrics) recorder_->scalar("eval/" + name, value, run.step);
}

void Collector::on_train_end(train::RunContext& run) {
  HParams facts = facts_of(run);
  facts["step"] = static_cast<double>(run.step);
  if (!run.outputs.empty()) facts["loss"] = run.loss();
  recorder_->record("lineage/train", json_of(facts, "ended"), run.step);
  recorder_->ended(true);
  recorder_->close();
  recorder_.reset();
}

}  // namespace mycel::insight
