#include "sluice/capi/sluice_c.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "sluice/base/build_info.h"
#include "sluice/probe/capture.h"
#include "sluice/probe/generate_text.h"

// A model with the engine that it runs on.
struct sluice_model {
  sluice_model(const char* directory, const sluice::EngineOptions& machine,
               const sluice::ModelOptions& options)
      : engine(machine), loaded(engine, directory, options) {}

  sluice::Engine engine;
  sluice::LoadedModel loaded;
};

// Tensors, and how C sees them.
struct sluice_tensors {
  sluice::NamedTensors tensors;
  std::vector<std::vector<int64_t>> shapes = {};
  std::vector<sluice_tensor> views = {};
};

namespace sluice::capi {
namespace {

// C has no other place for it than beside the thread.
thread_local std::string last_error;

void remember(const char* message) noexcept try { last_error = message; } catch (...) {
  last_error = "out of memory";  // short enough to need none
}

// Runs a body whose exceptions end here, as a status and a message.
template <class Body>
sluice_status guarded(const Body& body) noexcept {
  try {
    last_error.clear();
    body();
    return SLUICE_DONE;
  } catch (const Error& error) {
    remember(error.what());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    remember("out of memory");
  } catch (const std::exception& error) {
    remember(error.what());
  } catch (...) {
    remember("unknown failure");
  }
  return SLUICE_FAILED;
}

template <class T>
T& given(T* pointer, const char* name) {
  if (pointer == nullptr) throw usage_error({.where = name, .what = "is NULL"});
  return *pointer;
}

// What a failed call hands out is empty, so that freeing it is harmless.
template <class T>
void clear(T* out, const char* name) {
  given(out, name) = {};
}

std::string text_or(const char* text, const char* otherwise) {
  return text == nullptr ? otherwise : text;
}

std::vector<std::string> texts_of(const char* const* list) {
  std::vector<std::string> texts;
  for (; list != nullptr && *list != nullptr; ++list) texts.emplace_back(*list);
  return texts;
}

std::vector<TokenId> ids_of(const LoadedModel& model, const sluice_tokens& tokens) {
  if (tokens.count > 0) given(tokens.ids, "ids");
  const std::span<const TokenId> ids(tokens.ids, tokens.count);
  check_ids(model, ids);
  return {ids.begin(), ids.end()};
}

void hand_over(std::span<const TokenId> ids, sluice_tokens& out) {
  out.ids = new TokenId[ids.size()];
  out.count = ids.size();
  std::ranges::copy(ids, out.ids);
}

void check_range(const char* name, double value, double low, double high) {
  if (value >= low && value <= high) return;
  throw usage_error({.where = name,
                     .what = "out of range",
                     .expected = fmt::format("{} to {}", low, high),
                     .got = fmt::format("{}", value)});
}

// The bounds of the program's options.
TextGenerationOptions generation_options(const sluice_generation_options& options) {
  check_range("max_tokens", static_cast<double>(options.max_tokens), 0, 1 << 20);
  check_range("temperature", options.temperature, 0, 100);
  check_range("top_k", static_cast<double>(options.top_k), 0, 1 << 24);
  check_range("top_p", options.top_p, 0, 1);
  check_range("min_p", options.min_p, 0, 1);
  const TextGenerationOptions defaults;
  return {.sampler = {.temperature = options.temperature,
                      .top_k = options.top_k,
                      .top_p = options.top_p == 0 ? 1 : options.top_p,
                      .min_p = options.min_p,
                      .seed = options.seed},
          .max_tokens = options.max_tokens == 0 ? defaults.max_tokens : options.max_tokens};
}

std::vector<int64_t> dims_of(const Shape& shape) {
  std::vector<int64_t> dims;
  for (int axis = 0; axis < shape.rank(); ++axis) dims.push_back(shape[axis]);
  return dims;
}

// The views point into the other members, which do not change any more.
sluice_tensors* run_capture(const LoadedModel& model, const CaptureRequest& request) {
  auto result = std::make_unique<sluice_tensors>(sluice_tensors{.tensors = capture(model, request)});
  for (const auto& [name, tensor] : result->tensors) result->shapes.push_back(dims_of(tensor.shape()));
  for (size_t i = 0; i < result->tensors.size(); ++i) {
    const auto& [name, tensor] = result->tensors[i];
    const std::vector<int64_t>& shape = result->shapes[i];
    result->views.push_back({.name = name.c_str(),
                             .values = tensor.values<float>().data(),
                             .shape = shape.data(),
                             .rank = shape.size()});
  }
  return result.release();
}

}  // namespace
}  // namespace sluice::capi

using namespace sluice::capi;

const char* sluice_version(void) {
  static const std::string version(sluice::build_info().version);  // with its 0
  return version.c_str();
}

const char* sluice_last_error(void) {
  return last_error.c_str();
}

sluice_status sluice_load_model(const char* directory, const sluice_model_options* options,
                                sluice_model** model) {
  return guarded([&] {
    clear(model, "model");
    const sluice_model_options chosen = options == nullptr ? sluice_model_options{} : *options;
    if (chosen.threads < 0) throw sluice::usage_error({.where = "threads", .what = "is negative"});
    const std::string isa = text_or(chosen.isa, "");
    *model = new sluice_model(
        &given(directory, "directory"),
        {.threads = chosen.threads, .isa = {.name = isa, .source = isa.empty() ? "" : "isa"}},
        {.dtype = sluice::weight_type(text_or(chosen.weights, "f32")),
         .tokenizer = text_or(chosen.tokenizer, "")});
  });
}

void sluice_free_model(sluice_model* model) {
  delete model;
}

int64_t sluice_vocabulary(const sluice_model* model) {
  return model == nullptr ? 0 : model->loaded.config().vocabulary;
}

sluice_status sluice_tokenize(const sluice_model* model, const char* text, size_t bytes,
                              sluice_tokens* tokens) {
  return guarded([&] {
    clear(tokens, "tokens");
    const std::string_view all =
        bytes == 0 ? std::string_view() : std::string_view(&given(text, "text"), bytes);
    hand_over(given(model, "model").loaded.encode(all), *tokens);
  });
}

void sluice_free_tokens(sluice_tokens* tokens) {
  if (tokens == nullptr) return;
  delete[] tokens->ids;
  *tokens = {};
}

sluice_status sluice_decode(const sluice_model* model, const sluice_tokens* tokens, sluice_text* text) {
  return guarded([&] {
    clear(text, "text");
    const sluice::LoadedModel& loaded = given(model, "model").loaded;
    const auto& [ids, count] = given(tokens, "tokens");
    if (count > 0) given(ids, "ids");
    const std::string decoded = loaded.decode({ids, count});
    text->bytes = new char[decoded.size() + 1];
    text->count = decoded.size();
    std::memcpy(text->bytes, decoded.c_str(), decoded.size() + 1);
  });
}

void sluice_free_text(sluice_text* text) {
  if (text == nullptr) return;
  delete[] text->bytes;
  *text = {};
}

sluice_status sluice_generate(const sluice_model* model, const sluice_tokens* prompt,
                              const sluice_generation_options* options, sluice_tokens* generated) {
  return guarded([&] {
    clear(generated, "generated");
    const sluice::LoadedModel& loaded = given(model, "model").loaded;
    const sluice_generation_options chosen = options == nullptr ? sluice_generation_options{} : *options;
    const sluice::GeneratedText text = generate_text(
        loaded, {.prompt = ids_of(loaded, given(prompt, "prompt")), .options = generation_options(chosen)});
    hand_over(text.ids, *generated);
  });
}

sluice_status sluice_logits(const sluice_model* model, const sluice_tokens* tokens, sluice_tensors** logits) {
  return guarded([&] {
    clear(logits, "logits");
    const sluice::LoadedModel& loaded = given(model, "model").loaded;
    *logits = run_capture(loaded, {.ids = ids_of(loaded, given(tokens, "tokens")),
                                   .taps = {std::string(sluice::points::kLogits.name)}});
  });
}

sluice_status sluice_capture(const sluice_model* model, const sluice_capture_request* request,
                             sluice_tensors** captured) {
  return guarded([&] {
    clear(captured, "captured");
    const sluice::LoadedModel& loaded = given(model, "model").loaded;
    const sluice_capture_request& wanted = given(request, "request");
    *captured = run_capture(loaded, {.ids = ids_of(loaded, wanted.tokens),
                                     .taps = texts_of(wanted.taps),
                                     .interventions = sluice::parse_interventions(
                                         texts_of(wanted.interventions), loaded.config())});
  });
}

size_t sluice_tensor_count(const sluice_tensors* tensors) {
  return tensors == nullptr ? 0 : tensors->views.size();
}

const sluice_tensor* sluice_tensor_at(const sluice_tensors* tensors, size_t index) {
  return index < sluice_tensor_count(tensors) ? &tensors->views[index] : nullptr;
}

const sluice_tensor* sluice_tensor_named(const sluice_tensors* tensors, const char* name) {
  if (tensors == nullptr || name == nullptr) return nullptr;
  const auto found = std::ranges::find_if(
      tensors->views, [&](const sluice_tensor& each) { return std::strcmp(each.name, name) == 0; });
  return found == tensors->views.end() ? nullptr : &*found;
}

void sluice_free_tensors(sluice_tensors* tensors) {
  delete tensors;
}
