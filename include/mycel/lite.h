/* The Lite runtime of Mycel: runs .lite files on devices. A C interface of opaque handles, plain
   integers and memory that the caller owns, so that JNI, cgo, ctypes and the like need no glue of
   their own. Nothing here throws or prints; a function that fails returns a status other than 0,
   and `mycel_lite_error` tells why. A handle is used by one thread at a time; different handles by
   any. */
#ifndef MYCEL_LITE_H
#define MYCEL_LITE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MYCEL_LITE_API __attribute__((visibility("default")))

typedef struct mycel_lite_model mycel_lite_model;

enum mycel_lite_status { MYCEL_LITE_OK = 0, MYCEL_LITE_FAILED = 1 };

/* Elements, numbered as in .lite files. */
enum mycel_lite_dtype {
  MYCEL_LITE_BOOL,
  MYCEL_LITE_INT8,
  MYCEL_LITE_INT16,
  MYCEL_LITE_INT32,
  MYCEL_LITE_INT64,
  MYCEL_LITE_UINT8,
  MYCEL_LITE_UINT16,
  MYCEL_LITE_UINT32,
  MYCEL_LITE_UINT64,
  MYCEL_LITE_FLOAT16,
  MYCEL_LITE_BFLOAT16,
  MYCEL_LITE_FLOAT32,
  MYCEL_LITE_FLOAT64,
  MYCEL_LITE_COMPLEX64,
  MYCEL_LITE_COMPLEX128
};

/* "0.1.0". */
MYCEL_LITE_API const char* mycel_lite_version(void);
/* Why the last call on this handle failed; of null: why the last open or create in this thread did.
   Valid until the next call. */
MYCEL_LITE_API const char* mycel_lite_error(const mycel_lite_model* model);

/* Maps a file; null when it cannot be read. `check_data` compares the checksum of the weights,
   which reads all of them. `threads`: 1 or more. */
MYCEL_LITE_API mycel_lite_model* mycel_lite_open(const char* path, int32_t threads,
                                                 int32_t check_data);
/* The same for a file in memory that begins at a multiple of 64 bytes and outlives the model. */
MYCEL_LITE_API mycel_lite_model* mycel_lite_view(const void* bytes, int64_t size, int32_t threads,
                                                 int32_t check_data);
MYCEL_LITE_API void mycel_lite_close(mycel_lite_model* model);

/* Inputs and results: how many, their names, dtypes and dims (-1: open until mycel_lite_resize). */
MYCEL_LITE_API int32_t mycel_lite_inputs(const mycel_lite_model* model);
MYCEL_LITE_API int32_t mycel_lite_outputs(const mycel_lite_model* model);
MYCEL_LITE_API const char* mycel_lite_input_name(const mycel_lite_model* model, int32_t i);
MYCEL_LITE_API const char* mycel_lite_output_name(const mycel_lite_model* model, int32_t i);
MYCEL_LITE_API int32_t mycel_lite_input_dtype(const mycel_lite_model* model, int32_t i);
MYCEL_LITE_API int32_t mycel_lite_output_dtype(const mycel_lite_model* model, int32_t i);
MYCEL_LITE_API int32_t mycel_lite_input_rank(const mycel_lite_model* model, int32_t i);
MYCEL_LITE_API int32_t mycel_lite_output_rank(const mycel_lite_model* model, int32_t i);
MYCEL_LITE_API int64_t mycel_lite_input_dim(const mycel_lite_model* model, int32_t i, int32_t d);
MYCEL_LITE_API int64_t mycel_lite_output_dim(const mycel_lite_model* model, int32_t i, int32_t d);
/* Bytes of an input or result; -1 while a dim is open. */
MYCEL_LITE_API int64_t mycel_lite_input_bytes(const mycel_lite_model* model, int32_t i);
MYCEL_LITE_API int64_t mycel_lite_output_bytes(const mycel_lite_model* model, int32_t i);
/* Metadata: number of notes, their keys and texts. */
MYCEL_LITE_API int32_t mycel_lite_notes(const mycel_lite_model* model);
MYCEL_LITE_API const char* mycel_lite_note_key(const mycel_lite_model* model, int32_t i);
MYCEL_LITE_API const char* mycel_lite_note_text(const mycel_lite_model* model, int32_t i);
/* Memory that a run takes besides inputs, results and the file. */
MYCEL_LITE_API int64_t mycel_lite_arena_bytes(const mycel_lite_model* model);
/* Steps of the plan, and how many of them a delegate runs. */
MYCEL_LITE_API int64_t mycel_lite_steps(const mycel_lite_model* model);
MYCEL_LITE_API int64_t mycel_lite_delegated(const mycel_lite_model* model);

/* The dims of all inputs, one after the other. Plans of the last few shapes are kept. */
MYCEL_LITE_API int32_t mycel_lite_resize(mycel_lite_model* model, const int64_t* dims,
                                         int32_t count);
/* Runs the network on the caller's memory, sizes as mycel_lite_*_bytes say. */
MYCEL_LITE_API int32_t mycel_lite_run(mycel_lite_model* model, const void* const* inputs,
                                      void* const* outputs);

/* State: weights that a run of a training graph changes. `size` must be mycel_lite_state_bytes. */
MYCEL_LITE_API int32_t mycel_lite_states(const mycel_lite_model* model);
MYCEL_LITE_API const char* mycel_lite_state_name(const mycel_lite_model* model, int32_t i);
MYCEL_LITE_API int64_t mycel_lite_state_bytes(const mycel_lite_model* model, int32_t i);
MYCEL_LITE_API int32_t mycel_lite_get_state(mycel_lite_model* model, int32_t i, void* to,
                                            int64_t size);
MYCEL_LITE_API int32_t mycel_lite_set_state(mycel_lite_model* model, int32_t i, const void* from,
                                            int64_t size);
/* All states to a file, and back. */
MYCEL_LITE_API int32_t mycel_lite_save_state(mycel_lite_model* model, const char* path);
MYCEL_LITE_API int32_t mycel_lite_load_state(mycel_lite_model* model, const char* path);

/* -- extension: registered for the whole program, before models that need them are opened. */
typedef struct mycel_lite_view_t {
  void* data;
  int64_t bytes;
  int32_t dtype;
  int32_t rank;
  const int64_t* dims;
} mycel_lite_tensor;

/* A kernel for an op of the user's own; `attrs` as the converter wrote them. Returns 0 when done.
 */
typedef int32_t (*mycel_lite_kernel)(void* user, const char* attrs, const mycel_lite_tensor* inputs,
                                     int32_t input_count, const mycel_lite_tensor* outputs,
                                     int32_t output_count);
MYCEL_LITE_API void mycel_lite_register_kernel(const char* op, mycel_lite_kernel kernel,
                                               void* user);

/* A foreign engine for the parts of networks that were cut out under `name`. `prepare` gets a part
   as an ONNX model and gives a handle, or null: then the runtime's own kernels run it. */
typedef struct mycel_lite_delegate {
  void* user;
  void* (*prepare)(void* user, const void* onnx, int64_t bytes, const mycel_lite_tensor* inputs,
                   int32_t input_count, const mycel_lite_tensor* outputs, int32_t output_count);
  int32_t (*run)(void* user, void* part, const mycel_lite_tensor* inputs, int32_t input_count,
                 const mycel_lite_tensor* outputs, int32_t output_count);
  void (*release)(void* user, void* part);
} mycel_lite_delegate;
MYCEL_LITE_API void mycel_lite_register_delegate(const char* name,
                                                 const mycel_lite_delegate* delegate);

#ifdef __cplusplus
}
#endif
#endif
