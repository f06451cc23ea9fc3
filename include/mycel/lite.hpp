// A thin C++ face of the Lite runtime's C interface (mycel/lite.h); throws std::runtime_error.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "mycel/lite.h"

namespace mycel_lite {

class Model {
 public:
  explicit Model(const std::string& path, int threads = 1, bool check_data = true)
      : handle_(mycel_lite_open(path.c_str(), threads, check_data)) {
    if (!handle_) throw std::runtime_error(mycel_lite_error(nullptr));
  }
  int inputs() const { return mycel_lite_inputs(get()); }
  int outputs() const { return mycel_lite_outputs(get()); }
  std::string input_name(int i) const { return mycel_lite_input_name(get(), i); }
  size_t input_bytes(int i) const { return static_cast<size_t>(mycel_lite_input_bytes(get(), i)); }
  size_t output_bytes(int i) const {
    return static_cast<size_t>(mycel_lite_output_bytes(get(), i));
  }
  // The dims of all inputs, one after the other.
  void resize(const std::vector<int64_t>& dims) {
    check(mycel_lite_resize(get(), dims.data(), static_cast<int32_t>(dims.size())));
  }
  void run(const std::vector<const void*>& inputs, const std::vector<void*>& outputs) {
    check(mycel_lite_run(get(), inputs.data(), outputs.data()));
  }
  mycel_lite_model* get() const { return handle_.get(); }

 private:
  void check(int32_t status) const {
    if (status != MYCEL_LITE_OK) throw std::runtime_error(mycel_lite_error(get()));
  }
  struct Close {
    void operator()(mycel_lite_model* m) const { mycel_lite_close(m); }
  };
  std::unique_ptr<mycel_lite_model, Close> handle_;
};

}  // namespace mycel_lite
