// The open inference protocol, version 2 (KServe), as JSON: requests to tensors, tensors to
// answers.
#pragma once

#include <string>
#include <vector>

#include "runtime/model_file.h"

namespace mycel::lite {

struct InferRequest {
  std::string id;               // "" when none was given
  Tensors inputs;               // in the model's order
  std::vector<size_t> outputs;  // which results are wanted
};

// ValueError that names the input and what is wrong: no JSON, missing or unknown names, datatypes,
// shapes and numbers that do not fit. Data may be flat or nested lists.
InferRequest parse_infer(const std::string& body, const runtime::Model& model);
// NaN and infinities, which JSON lacks, are null.
std::string infer_answer(const std::string& model_name, const InferRequest& request,
                         const Tensors& results);
// What /v2/models/NAME tells: names, datatypes, shapes (-1: any).
std::string model_metadata(const std::string& name, const runtime::Model& model);
std::string server_metadata();
// {"error": text}
std::string error_answer(const std::string& text);

}  // namespace mycel::lite
