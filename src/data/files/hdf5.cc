// Hdf5Dataset: rows along the first dim of the arrays in an HDF5 file, through libhdf5. The library
// is used by one thread at a time; a row reads only the chunks that it touches.
#include <algorithm>
#include <memory>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5.h>

#include "base/error.h"
#include "data/files/arguments.h"
#include "data/files/records.h"
#include "data/files/rows.h"

namespace mycel::data {
namespace {

std::mutex library;  // libhdf5 holds state of its own

// A handle of the library, closed by the function for its kind.
class Id {
 public:
  Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Id() {
    if (id_ >= 0) close_(id_);
  }
  Id(Id&& o) noexcept : id_(std::exchange(o.id_, -1)), close_(o.close_) {}
  Id& operator=(Id&&) = delete;
  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor)
  bool ok() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

struct Array {
  std::string name;
  Id set;
  bool string = false;
  DType dtype = DType::kFloat32;
  hid_t memory_type = -1;  // of the library's own, never closed
  Shape shape;
};

// With the lock held, and the library's printing of errors switched off.
class Quiet {
 public:
  Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &before_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, before_, data_); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  H5E_auto2_t before_ = nullptr;
  void* data_ = nullptr;
};

bool number_type(hid_t type, DType* dtype, hid_t* memory) {
  const size_t n = H5Tget_size(type);
  const H5T_class_t kind = H5Tget_class(type);
  const bool is_signed = kind == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_2;
  const std::string name = fmt::format("{}{}",
                                       kind == H5T_FLOAT ? "float"
                                       : is_signed       ? "int"
                                                         : "uint",
                                       8 * n);
  if ((kind != H5T_FLOAT && kind != H5T_INTEGER) || !parse_dtype(name, dtype)) return false;
  switch (*dtype) {
    case DType::kFloat32:
      *memory = H5T_NATIVE_FLOAT;
      return true;
    case DType::kFloat64:
      *memory = H5T_NATIVE_DOUBLE;
      return true;
    case DType::kInt8:
      *memory = H5T_NATIVE_INT8;
      return true;
    case DType::kInt16:
      *memory = H5T_NATIVE_INT16;
      return true;
    case DType::kInt32:
      *memory = H5T_NATIVE_INT32;
      return true;
    case DType::kInt64:
      *memory = H5T_NATIVE_INT64;
      return true;
    case DType::kUInt8:
      *memory = H5T_NATIVE_UINT8;
      return true;
    case DType::kUInt16:
      *memory = H5T_NATIVE_UINT16;
      return true;
    case DType::kUInt32:
      *memory = H5T_NATIVE_UINT32;
      return true;
    case DType::kUInt64:
      *memory = H5T_NATIVE_UINT64;
      return true;
    default:
      return false;
  }
}

class File {
 public:
  explicit File(const std::string& path)
      : path_(path), file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose) {
    if (!file_.ok()) fail(ErrorKind::kOs, "'{}' cannot be read as an HDF5 file", path);
  }
  const std::string& path() const { return path_; }
  std::vector<Array>& arrays() { return arrays_; }

  // Paths of all arrays, in order of names.
  std::vector<std::string> names() const {
    std::vector<std::string> all, out;
    H5Lvisit(
        file_, H5_INDEX_NAME, H5_ITER_INC,
        [](hid_t, const char* name, const auto*, void* p) -> herr_t {
          static_cast<std::vector<std::string>*>(p)->emplace_back(name);
          return 0;
        },
        &all);
    for (std::string& name : all) {
      if (Id(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose).ok())
        out.push_back(std::move(name));
    }
    return out;
  }

  void add(const std::string& name) {
    Array a{name, Id(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose)};
    if (!a.set.ok())
      fail(ErrorKind::kKey, "'{}' has no array '{}', only {}", path_, name,
           fmt::join(names(), ", "));
    const Id type(H5Dget_type(a.set), H5Tclose);
    const Id space(H5Dget_space(a.set), H5Sclose);
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 1 || rank > kMaxRank)
      fail(ErrorKind::kValue, "'{}': array '{}' has {} dims; 1 to {} can be read", path_, name,
           rank, kMaxRank);
    hsize_t dims[kMaxRank] = {};
    H5Sget_simple_extent_dims(space, dims, nullptr);
    for (int d = 0; d < rank; ++d) a.shape.push_back(static_cast<int64_t>(dims[d]));
    a.string = H5Tget_class(type) == H5T_STRING;
    if (!a.string && !number_type(type, &a.dtype, &a.memory_type))
      fail(ErrorKind::kUnsupported, "'{}': array '{}' holds neither numbers nor strings", path_,
           name);
    arrays_.push_back(std::move(a));
  }

  // Slice i along the first dim.
  Value read(const Array& a, int64_t i) const {
    Shape shape = a.shape;
    shape.erase(0);
    const Id space(H5Dget_space(a.set), H5Sclose);
    hsize_t start[kMaxRank] = {static_cast<hsize_t>(i)}, count[kMaxRank] = {1};
    for (int d = 1; d < a.shape.rank(); ++d) count[d] = static_cast<hsize_t>(a.shape[d]);
    const hsize_t total = static_cast<hsize_t>(shape.size());
    const Id memory(H5Screate_simple(1, &total, nullptr), H5Sclose);
    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr) < 0) bad(a);
    if (a.string) return strings(a, space, memory, shape);
    Tensor t = Tensor::empty(a.dtype, shape);
    if (total > 0 && H5Dread(a.set, a.memory_type, memory, space, H5P_DEFAULT, t.mutable_raw()) < 0)
      bad(a);
    return t;
  }

 private:
  [[noreturn]] void bad(const Array& a) const {
    fail(ErrorKind::kOs, "'{}' is damaged: array '{}' cannot be read", path_, a.name);
  }

  Value strings(const Array& a, hid_t space, hid_t memory, const Shape& shape) const {
    const Id type(H5Dget_type(a.set), H5Tclose);
    StringArray s{std::vector<std::string>(shape.size()), shape};
    const size_t n = s.values.size();
    if (n == 0) return s;
    const Id own(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_cset(own, H5Tget_cset(type));
    if (H5Tis_variable_str(type) > 0) {
      H5Tset_size(own, H5T_VARIABLE);
      std::vector<char*> texts(n);
      if (H5Dread(a.set, own, memory, space, H5P_DEFAULT, texts.data()) < 0) bad(a);
      for (size_t k = 0; k < n; ++k) {
        if (texts[k]) s.values[k] = texts[k];
      }
      H5Dvlen_reclaim(own, memory, H5P_DEFAULT, texts.data());
      return s;
    }
    const size_t width = H5Tget_size(type);
    H5Tset_size(own, width);
    H5Tset_strpad(own, H5T_STR_NULLPAD);
    std::string texts(n * width, '\0');
    if (H5Dread(a.set, own, memory, space, H5P_DEFAULT, texts.data()) < 0) bad(a);
    for (size_t k = 0; k < n; ++k) {
      const std::string text = texts.substr(k * width, width);
      s.values[k] = text.substr(0, text.find('\0'));
    }
    return s;
  }

  std::string path_;
  Id file_;
  std::vector<Array> arrays_;
};

// Closes under the lock.
struct Closed {
  void operator()(File* f) const {
    std::lock_guard lock(library);
    delete f;
  }
};

DatasetPtr open(const Options& o) {
  const std::string& path = o.string("dataset_file");
  std::vector<std::string> columns = o.strings("columns_list");
  std::shared_ptr<File> file;
  int64_t size = -1;
  {
    std::lock_guard lock(library);
    const Quiet quiet;
    std::unique_ptr<File> f = std::make_unique<File>(path);  // closed here when something is wrong
    if (columns.empty()) columns = f->names();
    if (columns.empty()) fail(ErrorKind::kOs, "{}: '{}' holds no arrays", o.owner(), path);
    for (const std::string& c : columns) {
      f->add(c);
      const int64_t rows = f->arrays().back().shape[0];
      if (size >= 0 && rows != size)
        value_error("{}: array '{}' has {} rows, '{}' has {}; choose with columns_list", o.owner(),
                    c, rows, columns[0], size);
      size = rows;
    }
    file = std::shared_ptr<File>(f.release(), Closed());
  }
  return file_rows(
      o.owner(), columns, size,
      [file](int64_t i) {
        std::lock_guard lock(library);
        const Quiet quiet;
        Row row;
        for (const Array& a : file->arrays()) row.push_back(file->read(a, i));
        return row;
      },
      path);
}

const SourceDef kHdf5{
    .name = "Hdf5Dataset",
    .doc =
        "Arrays of an HDF5 file on disk. Rows are slices along the first dim, read where they "
        "lie. `columns_list`: paths of arrays (\"train/images\"), all in order of names "
        "otherwise; they must have as many rows. Columns: dtypes as stored, in this machine's "
        "byte order; strings of fixed and variable length as strings.",
    .args = with({"dataset_file: string", "columns_list: strings? = None"}, kRowArgs),
    .open = open,
};

}  // namespace

SourceDefs hdf5_sources() { return {&kHdf5}; }

}  // namespace mycel::data
