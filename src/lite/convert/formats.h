// The readers and writers that formats.cc lists.
#pragma once

#include "lite/convert.h"

namespace mycel::lite {

bool is_mycel(const std::string& path, std::string_view head);
runtime::TracedModel read_mycel(const std::string& path, const ConvertOptions& options);
std::vector<std::string> write_mycel(const runtime::TracedModel& model, const std::string& path,
                                     const ConvertOptions& options);

bool is_onnx(const std::string& path, std::string_view head);
runtime::TracedModel read_onnx(const std::string& path, const ConvertOptions& options);
std::vector<std::string> write_onnx(const runtime::TracedModel& model, const std::string& path,
                                    const ConvertOptions& options);

bool is_tflite(const std::string& path, std::string_view head);
runtime::TracedModel read_tflite(const std::string& path, const ConvertOptions& options);

bool is_graph_def(const std::string& path, std::string_view head);
runtime::TracedModel read_graph_def(const std::string& path, const ConvertOptions& options);

bool is_lite(const std::string& path, std::string_view head);
runtime::TracedModel read_lite(const std::string& path, const ConvertOptions& options);
std::vector<std::string> write_lite(const runtime::TracedModel& model, const std::string& path,
                                    const ConvertOptions& options);

std::vector<std::string> write_script(const std::string& from, const Reader& reader,
                                      const std::string& folder, const ConvertOptions& options);

// quantize_change.cc
runtime::TracedModel quantize_change(runtime::TracedModel model, const ConvertOptions& options,
                                     std::vector<std::string>& report);

}  // namespace mycel::lite
