// Networks from one file format to another: a reader makes a traced network of a file, changes are
// applied to it, a writer writes it. A new format is one line in lite/convert/formats.cc (and an
// option of its own one member of ConvertOptions); `mycel convert` and mycel.lite.Converter list
// what stands there.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "lite/quantize.h"
#include "runtime/model_file.h"

namespace mycel::lite {

struct ConvertOptions {
  std::string from;  // name of a reader; "": told from the file
  std::string to;    // name of a writer
  // Dims of inputs by name, in the place of those that the file leaves open; "": of the only input.
  std::map<std::string, Shape> shapes;
  // Weights of .lite files kept in 16 bits ("fp16"), or convolutions and products computed on 8-bit
  // integers ("int8", lite/quantize.h), for which samples of the inputs are calibrated on.
  std::string quantize;
  std::string calibrate;  // a safetensors file: by name of an input, samples one after the other
  QuantizeOptions quantizing;
  bool keep_graph = true;  // for other tools, which need it; dims that are open need it too
  // Of .lite files: inputs that the runtime keeps. Result `output` of a run becomes input `name` of
  // the next; the first gets `value`.
  struct State {
    std::string name;
    size_t output;
    Tensor value;
  };
  std::vector<State> state;
  std::vector<std::pair<std::string, std::string>> notes;  // metadata: key, text
};

struct Reader {
  const char* name;                                            // "onnx"
  const char* doc;                                             // "ONNX, opset 7 and newer (.onnx)"
  bool (*is)(const std::string& path, std::string_view head);  // head: the first 64 bytes
  runtime::TracedModel (*read)(const std::string& path, const ConvertOptions& options);
};

struct Writer {
  const char* name;
  const char* doc;
  // Gives what there is to say about it, a line each.
  std::vector<std::string> (*write)(const runtime::TracedModel& model, const std::string& path,
                                    const ConvertOptions& options);
  // Where it is set, it writes from the file itself, of whose names a traced network has no more;
  // nothing changes the network on the way.
  std::vector<std::string> (*from_file)(const std::string& from, const Reader& reader,
                                        const std::string& path,
                                        const ConvertOptions& options) = nullptr;
};

// What happens to a network between reading and writing; does nothing where the options ask for
// nothing.
struct Change {
  const char* name;
  runtime::TracedModel (*run)(runtime::TracedModel model, const ConvertOptions& options,
                              std::vector<std::string>& report);
};

std::span<const Reader> readers();
std::span<const Writer> writers();
std::span<const Change> changes();

// UserError kOs when the file cannot be opened, kValue when no reader knows it or it is damaged.
runtime::TracedModel read_network(const std::string& path, const ConvertOptions& options = {});
// The reader that knows the file. UserError kValue when none does.
std::string reader_name(const std::string& path);
// Reads, changes, writes; gives the report's lines.
std::vector<std::string> convert(const std::string& from, const std::string& to,
                                 const ConvertOptions& options);

// `types` of inputs with the dims that `options` gives. UserError kValue naming an input that does
// not exist or whose known dims differ.
ir::Types with_shapes(const std::vector<std::string>& names, ir::Types types,
                      const ConvertOptions& options);

}  // namespace mycel::lite
