// The lists of formats and changes; each entry's code lies in a file of its own beside this one.
#include "lite/convert/formats.h"

namespace mycel::lite {
namespace {

constexpr Reader kReaders[] = {
    {"mycel", "what mycel.export wrote (.mindir)", is_mycel, read_mycel},
    {"lite", "what --to lite wrote (.lite)", is_lite, read_lite},
    {"onnx", "ONNX, opset 7 and newer (.onnx)", is_onnx, read_onnx},
    {"tflite", "TFLite (.tflite)", is_tflite, read_tflite},
    {"tensorflow", "a frozen TensorFlow graph (.pb)", is_graph_def, read_graph_def},
};

constexpr Writer kWriters[] = {
    {"lite", "for the Lite runtime (.lite)", write_lite},
    {"mycel", "as mycel.export does (.mindir)", write_mycel},
    {"onnx", "ONNX, opset 20 (.onnx)", write_onnx},
    {"script", "a Python module with its weights and a report (a folder)", nullptr, write_script},
};

constexpr Change kChanges[] = {{"quantize", quantize_change}};

}  // namespace

std::span<const Reader> readers() { return kReaders; }
std::span<const Writer> writers() { return kWriters; }
std::span<const Change> changes() { return kChanges; }

}  // namespace mycel::lite
