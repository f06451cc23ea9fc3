#include "insight/debug/debugger.h"

#include "base/error.h"
#include "nn/cell.h"
#include "nn/optimizer.h"

namespace mycel::insight::debug {

Debugger::~Debugger() { end(); }

void Debugger::end() {
  if (!watching_) return;
  watching_ = false;
  nn::set_cell_watch(nullptr);
  session_->detach();
  session_->close();
}

void Debugger::on_train_begin(train::RunContext&) {
  end();
  if (nn::cell_watch()) fail(ErrorKind::kRuntime, "Debugger: cells are watched already");
  session_ = std::make_shared<Session>(options_);
  session_->attach();
  nn::set_cell_watch(this);
  watching_ = true;
}

void Debugger::on_train_step_begin(train::RunContext& run) {
  if (run.steps == 0)
    value_error("Debugger: a data sink runs many steps in one call; train without it");
  // Cells that an error has left behind.
  if (!before_.empty()) runtime::set_scope(before_.front());
  before_.clear();
  scopes_.clear();
  cells_.clear();
  session_->begin_step(run.step);
}

void Debugger::on_train_step_end(train::RunContext& run) {
  if (run.network) {
    for (const nn::Parameter& p : run.network->parameters())
      session_->parameter(p->name, p->value, p->requires_grad);
  }
  if (!run.outputs.empty()) session_->loss(run.outputs[0]);
  session_->end_step();
}

void Debugger::on_train_end(train::RunContext&) { end(); }

void Debugger::enter(const nn::Cell& cell) {
  std::string name = cell.class_name();
  if (!scopes_.empty()) {
    for (const auto& [child, c] : cells_.back()->children()) {
      if (&*c == &cell) name = child;
    }
    name = scopes_.back() + "/" + name;
  }
  session_->describe_scope(name, cell.class_name());
  before_.push_back(runtime::set_scope(name));
  scopes_.push_back(std::move(name));
  cells_.push_back(&cell);
}

void Debugger::leave(const nn::Cell&, const Tensors&) {
  if (scopes_.empty()) return;
  runtime::set_scope(before_.back());
  before_.pop_back();
  scopes_.pop_back();
  cells_.pop_back();
}

}  // namespace mycel::insight::debug
