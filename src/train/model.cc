#include "train/model.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/timeline.h"
#include "data/reader.h"
#include "nn/train_step.h"
#include "runtime/jit.h"

namespace mycel::train {
namespace {

std::atomic<bool> g_interrupted{false};
struct sigaction g_before;  // what SIGINT did before

// The first Ctrl-C is noted; a second one does what it did before.
void on_interrupt(int signal_number) {
  if (g_interrupted.exchange(true)) {
    sigaction(SIGINT, &g_before, nullptr);
    raise(signal_number);
  }
}

// Takes SIGINT over while a loop trains; the outermost loop does it.
class InterruptGuard {
 public:
  explicit InterruptGuard(bool wanted) : active_(wanted && !taken().exchange(true)) {
    if (!active_) return;
    g_interrupted = false;
    struct sigaction action = {};
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, &g_before);
  }
  ~InterruptGuard() {
    if (!active_) return;
    sigaction(SIGINT, &g_before, nullptr);
    taken() = false;
  }
  void check(const RunContext& run) const {
    if (active_ && g_interrupted) {
      fail(ErrorKind::kInterrupted, "training was interrupted after step {} (epoch {})", run.step,
           run.epoch);
    }
  }

 private:
  static std::atomic<bool>& taken() {
    static std::atomic<bool> t{false};
    return t;
  }
  bool active_;
};

thread_local const InterruptGuard* g_guard = nullptr;

// The network with its loss, as one cell.
struct WithLoss final : nn::Cell {
  WithLoss(nn::CellPtr n, nn::CellPtr l) : network(std::move(n)), loss(std::move(l)) {}
  Tensors construct(nn::Inputs x) override {
    if (!loss) return network->run(x);
    if (x.size() < 2)
      type_error("Model: with a loss a batch needs data and labels, got {} columns", x.size());
    Tensors out = network->run(x.first(x.size() - 1));
    out.push_back(x.back());
    return loss->run(out);
  }
  nn::CellPtr network, loss;
};

bool due(const Validation& v, int64_t epoch) {
  if (!v.dataset) return false;
  if (!v.at.empty()) return std::find(v.at.begin(), v.at.end(), epoch) != v.at.end();
  return epoch % v.every == 0;
}

// A step for the timeline, from asking for its data to the end of what it calls.
struct Stepping {
  explicit Stepping(int64_t number, bool training = true) {
    timeline::begin_step(number, training);
  }
  ~Stepping() { timeline::end_step(); }
  Stepping(const Stepping&) = delete;
  bool drop() const {  // there was no data; gives true
    timeline::drop_step();
    return true;
  }
};

// Where the data stands after `start.step` steps, when epochs are not the dataset's own.
data::Position position_of_step(const data::Dataset& dataset, const Progress& start) {
  if (start.step == 0) return {};
  int64_t rows = dataset.size();
  if (rows <= 0) {
    value_error("Model.train: a run with 'sink_size' cannot go on in a dataset of unknown length");
  }
  return {static_cast<uint64_t>(start.step / rows), start.step % rows};
}

}  // namespace

void Loop::at(Moment m) {
  timeline::Slice slice(timeline::on() && !callbacks_.empty()
                            ? timeline::named(timeline::Kind::kCallback, name_of(m))
                            : 0);
  for (const CallbackPtr& c : callbacks_) c->at(m, run_);
}

Tensors Program::train_steps(const NextBatch& next) {
  Tensors batch, outputs;
  while (next(&batch)) outputs = train_step(batch);
  return outputs;
}

void Loop::check_interrupt() const {
  if (g_guard) g_guard->check(run_);
}

void Loop::after_step() {
  program_.after_step();
  check_interrupt();
}

bool Loop::train_epoch(data::Reader& rows) {
  run_.steps = 1;
  for (;;) {
    if (run_.stop) return false;
    Stepping step(run_.step + 1);
    if (!rows.next(&run_.batch)) return step.drop();
    ++run_.step;
    ++run_.position;
    at(Moment::kTrainStepBegin);
    run_.outputs = program_.train_step(run_.batch);
    at(Moment::kTrainStepEnd);
    after_step();
  }
}

// One call into the program: the rest of an epoch. An epoch of `sink` steps goes through as many of
// the dataset's as it takes.
bool Loop::train_call(data::Reader& rows, int64_t sink) {
  if (run_.stop) return false;
  int64_t count = sink - run_.position;  // negative: to the end of the data
  auto read = [&](Tensors* row) {
    return count != 0 && (sink > 0 ? rows.next_of_any_epoch(row) : rows.next(row));
  };
  Stepping step(run_.step + 1);
  if (!read(&run_.batch)) return step.drop();
  bool first = true;
  run_.steps = 0;
  Program::NextBatch next = [&](Tensors* batch) {
    if (!first) {
      after_step();
      timeline::begin_step(run_.step + 1);
      if (!read(&run_.batch)) return !step.drop();
      ++run_.step;
      ++run_.position;
    }
    first = false;
    ++run_.steps;
    --count;
    *batch = run_.batch;
    return true;
  };
  ++run_.step;
  ++run_.position;
  at(Moment::kTrainStepBegin);
  run_.outputs = program_.train_steps(next);
  at(Moment::kTrainStepEnd);
  return !run_.stop;
}

void Loop::begin(int64_t epochs, int64_t batches, const Progress& start) {
  run_.epochs = epochs;
  run_.batches = batches;
  run_.step = start.step;
  run_.epoch = start.epoch + 1;
  run_.position = start.position;
  run_.stop = false;
  program_.set_train(true);
  at(Moment::kTrainBegin);
  run_.restore(start.state);
}

void Loop::train_epochs(const std::function<bool()>& epoch, const Validation& validation) {
  while (run_.epoch <= run_.epochs) {
    at(Moment::kTrainEpochBegin);
    bool complete = epoch();
    if (complete && due(validation, run_.epoch)) validate(validation);
    at(Moment::kTrainEpochEnd);
    if (run_.stop || run_.epoch == run_.epochs) break;
    ++run_.epoch;
    run_.position = 0;
  }
  at(Moment::kTrainEnd);
}

void Loop::train(int64_t epochs, const data::DatasetPtr& dataset, const Progress& start,
                 const Validation& validation, bool catch_interrupt, int64_t sink) {
  if (sink < kSinkEpoch)
    value_error("Model.train: 'sink_size' must be -1 (an epoch) or more, got {}", sink);
  InterruptGuard guard(catch_interrupt);
  struct Current {
    const InterruptGuard* before = g_guard;
    ~Current() { g_guard = before; }
  } current;
  g_guard = &guard;
  data::Position from{static_cast<uint64_t>(start.epoch), start.position};
  if (sink == kNoSink) {
    data::Reader rows(dataset, from, {.epochs = epochs, .poll = [&] { check_interrupt(); }});
    begin(epochs, dataset->size(), start);
    return train_epochs([&] { return train_epoch(rows); }, validation);
  }
  data::ReaderOptions options{.poll = [&] { check_interrupt(); }};
  if (dataset->workers() == 0) options.workers = 1;  // reads the next batch while one is used
  if (sink > 0) {
    from = position_of_step(*dataset, start);
    options.rows = (epochs - start.epoch) * sink - start.position;
  } else {
    options.epochs = epochs;
  }
  begin(epochs, sink > 0 ? sink : dataset->size(), start);
  data::Reader rows(dataset, from, options);
  train_epochs([&] { return train_call(rows, sink); }, validation);
}

void Loop::validate(const Validation& v) {
  Tensors batch = run_.batch, outputs = run_.outputs;
  int64_t batches = run_.batches;
  eval(v.dataset, v.sink);
  run_.batch = std::move(batch);
  run_.outputs = std::move(outputs);
  run_.batches = batches;
  program_.set_train(true);
}

Metrics Loop::eval(const data::DatasetPtr& dataset, bool sink) {
  int64_t step = run_.step, position = run_.position;
  data::ReaderOptions options{.epochs = 1, .poll = [&] { check_interrupt(); }};
  if (sink && dataset->workers() == 0) options.workers = 1;
  data::Reader rows(dataset, {}, options);
  run_.steps = 1;
  run_.evaluating = true;
  run_.batches = dataset->size();
  run_.step = run_.position = 0;
  program_.set_train(false);
  program_.clear_metrics();
  at(Moment::kEvalBegin);
  at(Moment::kEvalEpochBegin);
  while (!run_.stop) {
    Stepping step(run_.step + 1, false);
    if (!rows.next(&run_.batch)) {
      step.drop();
      break;
    }
    ++run_.step;
    ++run_.position;
    at(Moment::kEvalStepBegin);
    run_.outputs = program_.eval_step(run_.batch);
    program_.add_to_metrics(run_.outputs);
    at(Moment::kEvalStepEnd);
    after_step();
  }
  run_.metrics = program_.metric_values();
  at(Moment::kEvalEpochEnd);
  at(Moment::kEvalEnd);
  run_.evaluating = false;
  run_.step = step;
  run_.position = position;
  return run_.metrics;
}

Model::Model(nn::CellPtr network, nn::CellPtr loss, nn::OptimizerPtr optimizer,
             const std::vector<std::string>& metrics)
    : network_(std::move(network)), loss_(std::move(loss)), optimizer_(std::move(optimizer)) {
  if (!network_) value_error("Model: there is no network");
  trained_ = std::make_shared<WithLoss>(network_, loss_);
  for (const std::string& name : metrics) {
    nn::MetricPtr metric = nn::make_metric(name);
    metrics_.push_back(
        {name, std::move(metric), std::string(nn::find_metric(name)->name) == "Loss"});
  }
  auto places = [this] { return variables(); };
  train_step_ = std::make_unique<runtime::Jit>(
      [this](nn::Inputs in) { return nn::train_step(*trained_, *optimizer_, in); }, "train_step",
      places);
  eval_step_ = std::make_unique<runtime::Jit>([this](nn::Inputs in) { return measured(in); },
                                              "eval_step", places);
}
Model::~Model() = default;

void Model::train(int64_t epochs, const data::DatasetPtr& dataset, Callbacks callbacks,
                  int64_t sink) {
  start(epochs, dataset, {}, std::move(callbacks), sink);
}

void Model::fit(int64_t epochs, const data::DatasetPtr& dataset, const Validation& validation,
                Callbacks callbacks, int64_t sink) {
  if (validation.every < 1)
    value_error("Model.fit: validation every {} epochs; expected at least 1", validation.every);
  if (validation.dataset && metrics_.empty()) value_error("Model.fit: a validation needs metrics");
  start(epochs, dataset, validation, std::move(callbacks), sink);
}

void Model::start(int64_t epochs, const data::DatasetPtr& dataset, const Validation& validation,
                  Callbacks callbacks, int64_t sink) {
  if (!optimizer_) fail(ErrorKind::kRuntime, "Model.train: there is no optimizer");
  if (!dataset) value_error("Model.train: there is no dataset");
  if (epochs < 1) value_error("Model.train: epochs must be at least 1, got {}", epochs);
  RunContext run;
  run.network = network_.get();
  run.optimizer = optimizer_.get();
  Progress from = resumed_ ? progress_ : Progress();
  resumed_ = false;
  Loop loop(*this, std::move(callbacks), run);
  try {
    loop.train(epochs, dataset, from, validation, true, sink);
  } catch (...) {
    progress_ = run.progress();
    throw;
  }
  progress_ = run.progress();
}

Metrics Model::eval(const data::DatasetPtr& dataset, Callbacks callbacks, bool sink) {
  if (metrics_.empty()) value_error("Model.eval: there are no metrics");
  if (!dataset) value_error("Model.eval: there is no dataset");
  RunContext run;
  run.network = network_.get();
  run.epochs = run.epoch = 1;
  return Loop(*this, std::move(callbacks), run).eval(dataset, sink);
}

Tensors Model::predict(const Tensors& inputs) {
  network_->set_train(false);
  return network_->run(inputs);
}

void Model::resume(const std::string& path) {
  if (!optimizer_) fail(ErrorKind::kRuntime, "Model.resume: there is no optimizer");
  Loaded file = load_checkpoint(path);
  if (!file.progress) value_error("{}: holds no training run to resume, only parameters", path);
  std::vector<nn::Parameter> all = network_->parameters();
  for (const nn::Parameter& p : optimizer_->parameters()) {
    if (std::find(all.begin(), all.end(), p) == all.end()) all.push_back(p);
  }
  load_parameters(all, file, {.strict = true});
  runtime::set_random_state(file.progress->random);
  progress_ = *file.progress;
  resumed_ = true;
}

void Model::save(const std::string& path) const {
  if (!optimizer_) return save_checkpoint(path, entries_of(network_->parameters()));
  auto [entries, states] = training_entries(*network_, *optimizer_);
  Progress now = progress_;
  now.random = runtime::random_state();
  save_checkpoint(path, entries, {.extra = states, .progress = now});
}

void Model::set_train(bool training) {
  network_->set_train(training);
  if (loss_) loss_->set_train(training);
}

std::string Model::state_key() const {
  std::string key;
  auto note = [&key](const auto& self, const nn::Cell& c) -> void {
    key += c.training() ? 'T' : 'e';
    for (const auto& [name, p] : c.own_parameters()) key += p->requires_grad ? 'g' : 'f';
    for (const auto& [name, child] : c.children()) self(self, *child);
  };
  note(note, *network_);
  if (loss_) note(note, *loss_);
  return key;
}

std::vector<Tensor*> Model::variables() const {
  std::vector<Tensor*> places;
  std::set<const nn::ParameterData*> seen;
  for (const nn::Cell* c :
       {network_.get(), loss_.get(), static_cast<nn::Cell*>(optimizer_.get())}) {
    if (!c) continue;
    for (const nn::Parameter& p : c->parameters()) {
      if (seen.insert(p.get()).second) places.push_back(&p->value);
    }
  }
  if (!optimizer_) return places;
  for (const nn::Parameter& p : optimizer_->params()) {
    if (seen.insert(p.get()).second) places.push_back(&p->value);
  }
  return places;
}

Tensors Model::train_step(const Tensors& batch) {
  if (eager_) return nn::train_step(*trained_, *optimizer_, batch);
  return (*train_step_)(batch, state_key());
}

Tensors Model::eval_step(const Tensors& batch) {
  if (eager_) return measured(batch);
  return (*eval_step_)(batch, state_key());
}

Tensors Model::measured(nn::Inputs batch) {
  if (!loss_) return network_->run(batch);
  if (batch.size() < 2)
    type_error("Model: with a loss a batch needs data and labels, got {} columns", batch.size());
  Tensors out = network_->run(batch.first(batch.size() - 1));
  out.push_back(batch.back());
  Tensor loss = loss_->run(out).at(0);
  out.insert(out.begin(), loss);
  return out;
}

void Model::clear_metrics() {
  for (Named& m : metrics_) m.metric->clear();
}

void Model::add_to_metrics(const Tensors& outputs) {
  std::span<const Tensor> all(outputs);
  for (Named& m : metrics_) {
    m.metric->update(m.of_loss ? all.first(1) : loss_ ? all.subspan(1) : all);
  }
}

Metrics Model::metric_values() {
  Metrics out;
  for (Named& m : metrics_) out[m.name] = m.metric->value().item();
  return out;
}

std::pair<NamedTensors, std::vector<std::string>> training_entries(const nn::Cell& network,
                                                                   const nn::Optimizer& optimizer) {
  std::vector<nn::Parameter> all = network.parameters();
  std::set<const nn::ParameterData*> seen;
  for (const nn::Parameter& p : all) seen.insert(p.get());
  std::vector<std::string> states;
  for (const nn::Parameter& p : optimizer.parameters()) {
    if (!seen.insert(p.get()).second) continue;
    all.push_back(p);
    states.push_back(p->name);
  }
  return {entries_of(all), states};
}

}  // namespace mycel::train
