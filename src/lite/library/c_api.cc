// mycel/lite.h over LiteModel. The planner is linked where MYCEL_LITE_PLANNER is defined.
#include <cstdio>
#include <cstring>
#include <new>
#include <string>

#include "lite/runtime/extension.h"
#include "lite/runtime/model.h"
#include "mycel/lite.h"
#ifdef MYCEL_LITE_PLANNER
#include "lite/plan/replan.h"
#endif

using mycel::lite::LiteFile;
using mycel::lite::LiteModel;
using mycel::lite::Port;

struct mycel_lite_model {
  std::unique_ptr<LiteModel> model;
  std::string error;
  std::vector<Port> outputs;  // with known dims once prepared
  std::vector<std::string> note_keys, note_texts;
};

namespace {

thread_local std::string last_error;

int32_t failed(mycel_lite_model* m, const char* text) {
  try {
    (m ? m->error : last_error) = text;
  } catch (...) {
  }
  return MYCEL_LITE_FAILED;
}

// Nothing thrown leaves the library.
template <typename F>
int32_t guarded(mycel_lite_model* m, F f) {
  try {
    std::string problem = f();
    if (problem.empty()) return MYCEL_LITE_OK;
    return failed(m, problem.c_str());
  } catch (const std::bad_alloc&) {
    return failed(m, "no memory");
  } catch (const std::exception& e) {
    return failed(m, e.what());
  } catch (...) {
    return failed(m, "unknown failure");
  }
}

void refresh(mycel_lite_model* m) {
  m->outputs = m->model->program() ? m->model->outputs_now() : m->model->outputs();
}

template <typename Opener>
mycel_lite_model* open_with(int32_t threads, Opener opener) {
  mycel_lite_model* out = nullptr;
  guarded(nullptr, [&] {
    std::string problem;
    std::shared_ptr<const LiteFile> file = opener(problem);
    if (!file) return problem;
    auto m = std::make_unique<mycel_lite_model>();
    mycel::lite::ReplannerMaker maker = nullptr;
#ifdef MYCEL_LITE_PLANNER
    maker = mycel::lite::make_replanner;
#endif
    m->model = LiteModel::open(file, threads, maker, problem);
    if (!m->model) return problem;
    refresh(m.get());
    if (const auto* notes = file->table().notes()) {
      for (const auto* n : *notes) {
        m->note_keys.push_back(n->key() ? n->key()->str() : "");
        m->note_texts.push_back(n->text() ? n->text()->str() : "");
      }
    }
    out = m.release();
    return std::string();
  });
  return out;
}

const Port* input(const mycel_lite_model* m, int32_t i) {
  const auto& list = m->model->inputs();
  if (i < 0 || static_cast<size_t>(i) >= list.size()) return nullptr;
  const auto* program = m->model->program();
  // The dims that were prepared last; state is hidden, and never has open dims.
  if (program && !list[static_cast<size_t>(i)].known() && m->model->state().empty())
    return &program->inputs()[static_cast<size_t>(i)];
  return &list[static_cast<size_t>(i)];
}
const Port* output(const mycel_lite_model* m, int32_t i) {
  return i < 0 || static_cast<size_t>(i) >= m->outputs.size() ? nullptr
                                                              : &m->outputs[static_cast<size_t>(i)];
}
int64_t bytes_of(const Port* p) { return p && p->known() ? static_cast<int64_t>(p->bytes()) : -1; }
int64_t dim_of(const Port* p, int32_t d) {
  return p && d >= 0 && static_cast<size_t>(d) < p->dims.size() ? p->dims[static_cast<size_t>(d)]
                                                                : -1;
}
LiteModel::State* state(const mycel_lite_model* m, int32_t i) {
  auto& list = m->model->state();
  return i < 0 || static_cast<size_t>(i) >= list.size() ? nullptr : &list[static_cast<size_t>(i)];
}

std::vector<mycel_lite_tensor> tensors(std::span<const mycel::lite::View> views) {
  std::vector<mycel_lite_tensor> out;
  for (const auto& v : views) {
    out.push_back({v.data, static_cast<int64_t>(v.bytes), v.dtype,
                   static_cast<int32_t>(v.dims.size()), v.dims.data()});
  }
  return out;
}

class ForeignPart : public mycel::lite::Delegated {
 public:
  ForeignPart(mycel_lite_delegate d, void* part) : d_(d), part_(part) {}
  ~ForeignPart() override {
    if (d_.release) d_.release(d_.user, part_);
  }
  std::string run(std::span<const mycel::lite::View> in,
                  std::span<const mycel::lite::View> out) override {
    const auto a = tensors(in), b = tensors(out);
    const int32_t status = d_.run(d_.user, part_, a.data(), static_cast<int32_t>(a.size()),
                                  b.data(), static_cast<int32_t>(b.size()));
    return status == 0 ? "" : "the delegate failed with status " + std::to_string(status);
  }

 private:
  mycel_lite_delegate d_;
  void* part_;
};

constexpr char kStateMagic[8] = {'M', 'Y', 'L', 'S', 'T', 'A', 'T', '1'};

}  // namespace

extern "C" {

const char* mycel_lite_version(void) { return "0.1.0"; }
const char* mycel_lite_error(const mycel_lite_model* m) {
  return m ? m->error.c_str() : last_error.c_str();
}

mycel_lite_model* mycel_lite_open(const char* path, int32_t threads, int32_t check_data) {
  return open_with(threads, [&](std::string& problem) {
    auto file = LiteFile::open(path, check_data != 0, problem);
    if (!file) problem = "'" + std::string(path) + "': " + problem;
    return file;
  });
}
mycel_lite_model* mycel_lite_view(const void* bytes, int64_t size, int32_t threads,
                                  int32_t check_data) {
  return open_with(threads, [&](std::string& problem) {
    return LiteFile::view({static_cast<const std::byte*>(bytes), static_cast<size_t>(size)},
                          check_data != 0, problem);
  });
}
void mycel_lite_close(mycel_lite_model* m) { delete m; }

int32_t mycel_lite_inputs(const mycel_lite_model* m) {
  return static_cast<int32_t>(m->model->inputs().size());
}
int32_t mycel_lite_outputs(const mycel_lite_model* m) {
  return static_cast<int32_t>(m->outputs.size());
}
const char* mycel_lite_input_name(const mycel_lite_model* m, int32_t i) {
  const Port* p = input(m, i);
  return p ? m->model->inputs()[static_cast<size_t>(i)].name.c_str() : nullptr;
}
const char* mycel_lite_output_name(const mycel_lite_model* m, int32_t i) {
  const Port* p = output(m, i);
  return p ? p->name.c_str() : nullptr;
}
int32_t mycel_lite_input_dtype(const mycel_lite_model* m, int32_t i) {
  const Port* p = input(m, i);
  return p ? p->dtype : -1;
}
int32_t mycel_lite_output_dtype(const mycel_lite_model* m, int32_t i) {
  const Port* p = output(m, i);
  return p ? p->dtype : -1;
}
int32_t mycel_lite_input_rank(const mycel_lite_model* m, int32_t i) {
  const Port* p = input(m, i);
  return p ? static_cast<int32_t>(p->dims.size()) : -1;
}
int32_t mycel_lite_output_rank(const mycel_lite_model* m, int32_t i) {
  const Port* p = output(m, i);
  return p ? static_cast<int32_t>(p->dims.size()) : -1;
}
int64_t mycel_lite_input_dim(const mycel_lite_model* m, int32_t i, int32_t d) {
  return dim_of(input(m, i), d);
}
int64_t mycel_lite_output_dim(const mycel_lite_model* m, int32_t i, int32_t d) {
  return dim_of(output(m, i), d);
}
int64_t mycel_lite_input_bytes(const mycel_lite_model* m, int32_t i) {
  return bytes_of(input(m, i));
}
int64_t mycel_lite_output_bytes(const mycel_lite_model* m, int32_t i) {
  return bytes_of(output(m, i));
}
int32_t mycel_lite_notes(const mycel_lite_model* m) {
  return static_cast<int32_t>(m->note_keys.size());
}
const char* mycel_lite_note_key(const mycel_lite_model* m, int32_t i) {
  return i < 0 || i >= mycel_lite_notes(m) ? nullptr : m->note_keys[static_cast<size_t>(i)].c_str();
}
const char* mycel_lite_note_text(const mycel_lite_model* m, int32_t i) {
  return i < 0 || i >= mycel_lite_notes(m) ? nullptr
                                           : m->note_texts[static_cast<size_t>(i)].c_str();
}
int64_t mycel_lite_arena_bytes(const mycel_lite_model* m) {
  return m->model->program() ? static_cast<int64_t>(m->model->program()->arena_bytes()) : -1;
}
int64_t mycel_lite_steps(const mycel_lite_model* m) {
  return m->model->program() ? static_cast<int64_t>(m->model->program()->steps()) : -1;
}
int64_t mycel_lite_delegated(const mycel_lite_model* m) {
  return m->model->program() ? static_cast<int64_t>(m->model->program()->delegated()) : -1;
}

int32_t mycel_lite_resize(mycel_lite_model* m, const int64_t* dims, int32_t count) {
  return guarded(m, [&]() -> std::string {
    std::vector<std::vector<int64_t>> shapes;
    int32_t at = 0;
    for (const Port& p : m->model->inputs()) {
      const auto rank = static_cast<int32_t>(p.dims.size());
      if (count - at < rank) return "too few dims are given";
      shapes.emplace_back(dims + at, dims + at + rank);
      at += rank;
    }
    if (at != count) return "too many dims are given";
    std::string problem = m->model->prepare(shapes);
    if (problem.empty()) refresh(m);
    return problem;
  });
}

int32_t mycel_lite_run(mycel_lite_model* m, const void* const* inputs, void* const* outputs) {
  return guarded(m, [&] {
    auto* in = const_cast<void* const*>(inputs);
    return m->model->run({in, m->model->inputs().size()}, {outputs, m->outputs.size()});
  });
}

int32_t mycel_lite_states(const mycel_lite_model* m) {
  return static_cast<int32_t>(m->model->state().size());
}
const char* mycel_lite_state_name(const mycel_lite_model* m, int32_t i) {
  const auto* s = state(m, i);
  return s ? s->name.c_str() : nullptr;
}
int64_t mycel_lite_state_bytes(const mycel_lite_model* m, int32_t i) {
  const auto* s = state(m, i);
  return s ? static_cast<int64_t>(s->now.size()) : -1;
}
int32_t mycel_lite_get_state(mycel_lite_model* m, int32_t i, void* to, int64_t size) {
  const auto* s = state(m, i);
  if (!s || size != static_cast<int64_t>(s->now.size())) return failed(m, "no state of this size");
  std::memcpy(to, s->now.data(), s->now.size());
  return MYCEL_LITE_OK;
}
int32_t mycel_lite_set_state(mycel_lite_model* m, int32_t i, const void* from, int64_t size) {
  auto* s = state(m, i);
  if (!s || size != static_cast<int64_t>(s->now.size())) return failed(m, "no state of this size");
  std::memcpy(s->now.data(), from, s->now.size());
  return MYCEL_LITE_OK;
}

/* Magic, then for each state its bytes as a 64-bit number and the bytes themselves. */
int32_t mycel_lite_save_state(mycel_lite_model* m, const char* path) {
  return guarded(m, [&]() -> std::string {
    const std::string temporary = std::string(path) + ".new";
    std::FILE* f = std::fopen(temporary.c_str(), "wb");
    if (!f) return "'" + temporary + "' cannot be written";
    bool good = std::fwrite(kStateMagic, 1, 8, f) == 8;
    for (const auto& s : m->model->state()) {
      const uint64_t n = s.now.size();
      good = good && std::fwrite(&n, 8, 1, f) == 1 && std::fwrite(s.now.data(), 1, n, f) == n;
    }
    good = std::fclose(f) == 0 && good;
    if (!good || std::rename(temporary.c_str(), path) != 0) {
      std::remove(temporary.c_str());
      return "'" + std::string(path) + "' cannot be written";
    }
    return "";
  });
}
int32_t mycel_lite_load_state(mycel_lite_model* m, const char* path) {
  return guarded(m, [&]() -> std::string {
    std::FILE* f = std::fopen(path, "rb");
    if (!f) return "'" + std::string(path) + "' cannot be read";
    char magic[8];
    bool good = std::fread(magic, 1, 8, f) == 8 && std::memcmp(magic, kStateMagic, 8) == 0;
    std::vector<std::vector<std::byte>> read;
    for (const auto& s : m->model->state()) {
      uint64_t n = 0;
      good = good && std::fread(&n, 8, 1, f) == 1 && n == s.now.size();
      if (!good) break;
      read.emplace_back(n);
      good = std::fread(read.back().data(), 1, n, f) == n;
    }
    good = good && std::fgetc(f) == EOF;
    std::fclose(f);
    if (!good) return "'" + std::string(path) + "' holds no state of this network";
    for (size_t i = 0; i < read.size(); ++i) m->model->state()[i].now = std::move(read[i]);
    return "";
  });
}

void mycel_lite_register_kernel(const char* op, mycel_lite_kernel kernel, void* user) {
  guarded(nullptr, [&]() -> std::string {
    mycel::lite::register_kernel(op, [kernel, user](const std::string& attrs, auto in, auto out) {
      const auto a = tensors(in), b = tensors(out);
      const int32_t status = kernel(user, attrs.c_str(), a.data(), static_cast<int32_t>(a.size()),
                                    b.data(), static_cast<int32_t>(b.size()));
      return status == 0 ? std::string()
                         : "the kernel failed with status " + std::to_string(status);
    });
    return "";
  });
}

void mycel_lite_register_delegate(const char* name, const mycel_lite_delegate* delegate) {
  guarded(nullptr, [&]() -> std::string {
    const mycel_lite_delegate d = *delegate;
    mycel::lite::register_delegate(
        name,
        [d](std::span<const std::byte> model, auto in,
            auto out) -> std::unique_ptr<mycel::lite::Delegated> {
          const auto a = tensors(in), b = tensors(out);
          void* part =
              d.prepare(d.user, model.data(), static_cast<int64_t>(model.size()), a.data(),
                        static_cast<int32_t>(a.size()), b.data(), static_cast<int32_t>(b.size()));
          if (!part) return nullptr;
          return std::make_unique<ForeignPart>(d, part);
        });
    return "";
  });
}

}  // extern "C"
