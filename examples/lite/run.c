/* Runs a .lite file on inputs from raw files: run MODEL THREADS INPUT... ; results are written to
   result0, result1, … in the working folder. Plain C: what an app links is libmycel_lite alone. */
#include <mycel/lite.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc < 3) return fprintf(stderr, "usage: run MODEL THREADS INPUT...\n"), 2;
  mycel_lite_model* model = mycel_lite_open(argv[1], atoi(argv[2]), 1);
  if (!model) return fprintf(stderr, "%s\n", mycel_lite_error(NULL)), 1;
  const int ins = mycel_lite_inputs(model), outs = mycel_lite_outputs(model);
  if (argc - 3 != ins) return fprintf(stderr, "%d inputs are needed\n", ins), 1;
  const void* inputs[16];
  void* outputs[16];
  for (int i = 0; i < ins && i < 16; ++i) {
    const int64_t bytes = mycel_lite_input_bytes(model, i);
    void* to = bytes < 0 ? NULL : malloc((size_t)bytes);
    FILE* f = fopen(argv[3 + i], "rb");
    if (!to || !f || fread(to, 1, (size_t)bytes, f) != (size_t)bytes)
      return fprintf(stderr, "input %d: %lld bytes are needed\n", i, (long long)bytes), 1;
    fclose(f);
    inputs[i] = to;
  }
  for (int i = 0; i < outs && i < 16; ++i)
    outputs[i] = malloc((size_t)mycel_lite_output_bytes(model, i));
  double best = 1e30;
  for (int round = 0; round < 5; ++round) {
    const double begin = now();
    if (mycel_lite_run(model, inputs, outputs) != MYCEL_LITE_OK)
      return fprintf(stderr, "%s\n", mycel_lite_error(model)), 1;
    if (now() - begin < best) best = now() - begin;
  }
  for (int i = 0; i < outs && i < 16; ++i) {
    char name[32];
    snprintf(name, sizeof name, "result%d", i);
    FILE* f = fopen(name, "wb");
    const size_t bytes = (size_t)mycel_lite_output_bytes(model, i);
    if (!f || fwrite(outputs[i], 1, bytes, f) != bytes || fclose(f) != 0) return 1;
  }
  printf("%.3f ms, %lld bytes of arena\n", 1e3 * best, (long long)mycel_lite_arena_bytes(model));
  mycel_lite_close(model);
  return 0;
}
