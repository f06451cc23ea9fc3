// .lite files, out and in again.
#pragma once

#include <memory>
#include <string>

#include "lite/convert.h"
#include "lite/runtime/model.h"

namespace mycel::lite {

// What a delegate gets of a part of the network; null: parts are not cut out.
std::string lite_bytes(const runtime::TracedModel& model, const ConvertOptions& options,
                       std::vector<std::string>& report);
// With the weights as the graph takes them.
runtime::TracedModel read_lite(const std::string& path, const ConvertOptions& options);

// A .lite file in the Lite runtime, with the planner. UserError naming the file.
std::unique_ptr<LiteModel> open_lite(const std::string& path, int threads);
// Runs it; results get memory of their own.
Tensors run_lite(LiteModel& model, std::span<const Tensor> inputs);

}  // namespace mycel::lite
