// Sluice for C, and for every language that can call C: load a model, tokenise, logits, generate, capture.
//
// A function that can fail returns a status; sluice_last_error() then says why, in one line. NULL where
// something is needed is refused like any other mistake; nothing is thrown across this border. What a
// function hands out belongs to the caller, who gives it back to the sluice_free_ function of its type; NULL
// is fine there. It stays valid after the model is freed. Several threads may use one model; each thread has
// its own last error.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The numbers are the exit codes of the program.
typedef int sluice_status;
enum {
  SLUICE_DONE = 0,
  SLUICE_FAILED = 1,    // memory, disk, a mistake in the library
  SLUICE_USAGE = 2,     // the call is wrong: NULL, a tap that the model does not have
  SLUICE_BAD_INPUT = 3  // a file is not there or not what it should be
};

// "0.1.0": of the library that is linked; base/version.h has that of the headers.
const char* sluice_version(void);

// Why the last call on this thread failed; "" if it did not. Valid until the next call on this thread.
const char* sluice_last_error(void);

typedef struct sluice_model sluice_model;

// Zeroed it means what NULL means: every default.
typedef struct sluice_model_options {
  const char* weights;    // "f32", "bf16" or "int8"; NULL: f32
  const char* tokenizer;  // a tokenizer.json, or "bytes"; NULL: the model's own
  const char* isa;        // an instruction set, as --isa takes it; NULL: the best of the machine
  int threads;            // 0: all cores
} sluice_model_options;

sluice_status sluice_load_model(const char* directory, const sluice_model_options* options,
                                sluice_model** model);
void sluice_free_model(sluice_model* model);

// Ids are below it. 0 for NULL.
int64_t sluice_vocabulary(const sluice_model* model);

typedef struct sluice_tokens {
  int32_t* ids;
  size_t count;
} sluice_tokens;

// `bytes` is the length of the text, which may have any bytes in it.
sluice_status sluice_tokenize(const sluice_model* model, const char* text, size_t bytes,
                              sluice_tokens* tokens);
void sluice_free_tokens(sluice_tokens* tokens);

typedef struct sluice_text {
  char* bytes;  // `count` of them, then a 0
  size_t count;
} sluice_text;

sluice_status sluice_decode(const sluice_model* model, const sluice_tokens* tokens, sluice_text* text);
void sluice_free_text(sluice_text* text);

// Zeroed it means what NULL means: the likeliest token each time, up to 64 of them.
typedef struct sluice_generation_options {
  int64_t max_tokens;  // 0: 64
  double temperature;  // 0: greedy
  int64_t top_k;       // 0: off
  double top_p;        // 0 or 1: off
  double min_p;        // 0: off
  uint64_t seed;
} sluice_generation_options;

// The new tokens alone. They end at the model's end-of-text token, which is not among them, or at max_tokens.
sluice_status sluice_generate(const sluice_model* model, const sluice_tokens* prompt,
                              const sluice_generation_options* options, sluice_tokens* generated);

typedef struct sluice_tensor {
  const char* name;      // of its tap: "logits", "layers.0.attn.gate"
  const float* values;   // row-major
  const int64_t* shape;  // `rank` numbers; docs/taps.md says what they count
  size_t rank;
} sluice_tensor;

typedef struct sluice_tensors sluice_tensors;

// One tensor, [tokens, vocabulary]: row t is about the token that follows token t.
sluice_status sluice_logits(const sluice_model* model, const sluice_tokens* tokens, sluice_tensors** logits);

// Lists end with NULL; NULL instead of a list is an empty one.
typedef struct sluice_capture_request {
  sluice_tokens tokens;
  const char* const* taps;           // patterns: "attn.gate", "layers.0-3.resid", "logits"
  const char* const* interventions;  // as --intervene takes them: "attn.gate set=1 heads=0"
} sluice_capture_request;

// The values at all taps that fit a pattern, in the order of their layers.
sluice_status sluice_capture(const sluice_model* model, const sluice_capture_request* request,
                             sluice_tensors** captured);

size_t sluice_tensor_count(const sluice_tensors* tensors);

// NULL if there is none: an index beyond the last, another name.
const sluice_tensor* sluice_tensor_at(const sluice_tensors* tensors, size_t index);
const sluice_tensor* sluice_tensor_named(const sluice_tensors* tensors, const char* name);
void sluice_free_tensors(sluice_tensors* tensors);

#ifdef __cplusplus
}
#endif
