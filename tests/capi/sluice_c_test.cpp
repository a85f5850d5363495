// The C interface: what it hands out, and that every mistake comes back as a status with a message.
#include "sluice/capi/sluice_c.h"

#include <cmath>
#include <string>
#include <thread>

#include "sluice/base/build_info.h"
#include "sluice/base/version.h"
#include "sluice/probe/generate_text.h"
#include "sluice/probe/trace.h"
#include "tests/infer/byte_model.h"

namespace sluice {
namespace {

using namespace std::string_literals;

// The same model as the one of WithByteModel, through the other door.
class CInterface : public WithByteModel {
 protected:
  CInterface() {
    sluice_model_options options{};
    options.tokenizer = "bytes";
    EXPECT_EQ(sluice_load_model(golden("tiny_gate_elementwise").c_str(), &options, &c_model_), SLUICE_DONE)
        << sluice_last_error();
  }
  ~CInterface() override {
    sluice_free_tensors(tensors_);
    sluice_free_tokens(&made_);
    sluice_free_text(&text_);
    sluice_free_model(c_model_);
  }

  std::vector<int32_t> ids_{5, 6, 7};
  sluice_tokens tokens_{ids_.data(), ids_.size()};
  sluice_model* c_model_ = nullptr;
  sluice_tensors* tensors_ = nullptr;
  sluice_tokens made_ = {};
  sluice_text text_ = {};
};

void expect_refused(sluice_status status, sluice_status expected, const std::string& message) {
  EXPECT_EQ(status, expected);
  EXPECT_EQ(sluice_last_error(), message);
}

TEST_F(CInterface, tells_its_version) {
  EXPECT_EQ(sluice_version(), std::string(build_info().version));
  const std::string of_headers =
      fmt::format("{}.{}.{}", SLUICE_VERSION_MAJOR, SLUICE_VERSION_MINOR, SLUICE_VERSION_PATCH);
  EXPECT_EQ(sluice_version(), of_headers);
}

TEST_F(CInterface, tokenises_and_decodes_any_bytes) {
  const std::string text = "a\0b"s;
  ASSERT_EQ(sluice_tokenize(c_model_, text.data(), text.size(), &made_), SLUICE_DONE);
  EXPECT_EQ(std::vector<int32_t>(made_.ids, made_.ids + made_.count), (std::vector<int32_t>{'a', 0, 'b'}));
  ASSERT_EQ(sluice_decode(c_model_, &made_, &text_), SLUICE_DONE);
  EXPECT_EQ(std::string(text_.bytes, text_.count), text);
  EXPECT_EQ(text_.bytes[text_.count], 0);
  EXPECT_EQ(sluice_vocabulary(c_model_), 128);
}

TEST_F(CInterface, tokenises_nothing_to_nothing) {
  ASSERT_EQ(sluice_tokenize(c_model_, nullptr, 0, &made_), SLUICE_DONE) << sluice_last_error();
  EXPECT_EQ(made_.count, 0);
  ASSERT_EQ(sluice_decode(c_model_, &made_, &text_), SLUICE_DONE) << sluice_last_error();
  EXPECT_EQ(text_.bytes, ""s);
}

TEST_F(CInterface, has_the_logits_of_the_library) {
  ASSERT_EQ(sluice_logits(c_model_, &tokens_, &tensors_), SLUICE_DONE) << sluice_last_error();
  ASSERT_EQ(sluice_tensor_count(tensors_), 1);
  const sluice_tensor* logits = sluice_tensor_at(tensors_, 0);
  EXPECT_EQ(logits->name, "logits"s);
  EXPECT_EQ(std::vector<int64_t>(logits->shape, logits->shape + logits->rank),
            (std::vector<int64_t>{3, 128}));
  const CapturedTrace traced = trace(model_, {.ids = ids_});
  EXPECT_EQ(largest_difference(traced.trace.logits, std::span(logits->values, 3 * 128)), 0.0);
}

TEST_F(CInterface, hands_out_tensors_that_outlive_the_model) {
  ASSERT_EQ(sluice_logits(c_model_, &tokens_, &tensors_), SLUICE_DONE);
  const CapturedTrace traced = trace(model_, {.ids = ids_});
  sluice_free_model(c_model_);
  c_model_ = nullptr;
  const std::span values(sluice_tensor_at(tensors_, 0)->values, 3 * 128);
  EXPECT_EQ(largest_difference(traced.trace.logits, values), 0.0);
}

TEST_F(CInterface, generates_the_tokens_of_the_library) {
  const sluice_generation_options options{
      .max_tokens = 9, .temperature = 0.7, .top_k = 0, .top_p = 0.9, .min_p = 0, .seed = 3};
  ASSERT_EQ(sluice_generate(c_model_, &tokens_, &options, &made_), SLUICE_DONE) << sluice_last_error();
  const GeneratedText generated = generate_text(
      model_, {.prompt = ids_,
               .options = {.sampler = {.temperature = 0.7, .top_p = 0.9, .seed = 3}, .max_tokens = 9}});
  EXPECT_EQ(std::vector<int32_t>(made_.ids, made_.ids + made_.count), generated.ids);
  EXPECT_EQ(made_.count, 9);
}

TEST_F(CInterface, takes_zeroed_options_for_none) {
  const sluice_generation_options zeroed{};
  sluice_tokens other{};
  ASSERT_EQ(sluice_generate(c_model_, &tokens_, &zeroed, &made_), SLUICE_DONE);
  ASSERT_EQ(sluice_generate(c_model_, &tokens_, nullptr, &other), SLUICE_DONE);
  EXPECT_EQ(std::vector<int32_t>(made_.ids, made_.ids + made_.count),
            std::vector<int32_t>(other.ids, other.ids + other.count));
  EXPECT_EQ(made_.count, 64);
  sluice_free_tokens(&other);
  EXPECT_EQ(other.ids, nullptr);
}

TEST_F(CInterface, captures_by_pattern_under_interventions) {
  const char* taps[] = {"attn.gate", "layers.1.resid", nullptr};
  const char* changes[] = {"layers.1.attn.gate set=0.5", nullptr};
  const sluice_capture_request request{.tokens = tokens_, .taps = taps, .interventions = changes};
  ASSERT_EQ(sluice_capture(c_model_, &request, &tensors_), SLUICE_DONE) << sluice_last_error();
  EXPECT_EQ(sluice_tensor_count(tensors_), 4);
  const sluice_tensor* gate = sluice_tensor_named(tensors_, "layers.1.attn.gate");
  ASSERT_NE(gate, nullptr);
  EXPECT_EQ(std::vector<int64_t>(gate->shape, gate->shape + gate->rank), (std::vector<int64_t>{3, 4, 8}));
  for (const float value : std::span(gate->values, 3 * 4 * 8)) ASSERT_EQ(value, 0.5F);
  EXPECT_EQ(sluice_tensor_named(tensors_, "logits"), nullptr);
  EXPECT_EQ(sluice_tensor_at(tensors_, 4), nullptr);
}

TEST_F(CInterface, says_what_is_wrong_with_a_file) {
  sluice_model* model = c_model_;
  expect_refused(sluice_load_model("gone", nullptr, &model), SLUICE_BAD_INPUT,
                 "gone: not a model directory (it holds config.json and model.safetensors)");
  EXPECT_EQ(model, nullptr);
}

TEST_F(CInterface, refuses_options_of_a_model_that_make_no_sense) {
  sluice_model* model = nullptr;
  sluice_model_options options{};
  options.weights = "f3";
  expect_refused(sluice_load_model("x", &options, &model), SLUICE_USAGE,
                 "unknown type of weights: expected f32, bf16 or int8, got \"f3\"");
  options = {};
  options.isa = "mmx";
  EXPECT_EQ(sluice_load_model("x", &options, &model), SLUICE_USAGE);
  EXPECT_EQ(std::string(sluice_last_error()).find("isa: "), 0) << sluice_last_error();
  options = {};
  options.threads = -1;
  expect_refused(sluice_load_model("x", &options, &model), SLUICE_USAGE, "threads: is negative");
}

TEST_F(CInterface, refuses_options_of_a_generation_that_make_no_sense) {
  sluice_generation_options options{};
  options.temperature = -1;
  expect_refused(sluice_generate(c_model_, &tokens_, &options, &made_), SLUICE_USAGE,
                 "temperature: out of range: expected 0 to 100, got -1");
  options.temperature = NAN;
  EXPECT_EQ(sluice_generate(c_model_, &tokens_, &options, &made_), SLUICE_USAGE);
  options = {};
  options.max_tokens = -1;
  EXPECT_EQ(sluice_generate(c_model_, &tokens_, &options, &made_), SLUICE_USAGE);
}

TEST_F(CInterface, refuses_tokens_and_taps_that_the_model_does_not_have) {
  ids_[2] = 128;
  const std::string bad_id = "token 2: bad token id: expected integer from 0 to 127, got 128";
  expect_refused(sluice_logits(c_model_, &tokens_, &tensors_), SLUICE_USAGE, bad_id);
  expect_refused(sluice_generate(c_model_, &tokens_, nullptr, &made_), SLUICE_USAGE, bad_id);
  tokens_.count = 0;
  expect_refused(sluice_generate(c_model_, &tokens_, nullptr, &made_), SLUICE_USAGE, "there are no tokens");
  tokens_.count = 2;
  const char* taps[] = {"attn.gate_g5", nullptr};
  const sluice_capture_request request{.tokens = tokens_, .taps = taps, .interventions = nullptr};
  expect_refused(sluice_capture(c_model_, &request, &tensors_), SLUICE_USAGE,
                 "capture: the model has no \"attn.gate_g5\"");
  EXPECT_EQ(tensors_, nullptr);
}

TEST_F(CInterface, refuses_null_where_something_is_needed) {
  const sluice_tokens no_ids{nullptr, 3};
  const sluice_capture_request request{.tokens = no_ids, .taps = nullptr, .interventions = nullptr};
  sluice_model* model = nullptr;
  expect_refused(sluice_load_model("x", nullptr, nullptr), SLUICE_USAGE, "model: is NULL");
  expect_refused(sluice_load_model(nullptr, nullptr, &model), SLUICE_USAGE, "directory: is NULL");
  expect_refused(sluice_tokenize(nullptr, "a", 1, &made_), SLUICE_USAGE, "model: is NULL");
  expect_refused(sluice_tokenize(c_model_, nullptr, 1, &made_), SLUICE_USAGE, "text: is NULL");
  expect_refused(sluice_tokenize(c_model_, "a", 1, nullptr), SLUICE_USAGE, "tokens: is NULL");
  expect_refused(sluice_decode(c_model_, &no_ids, &text_), SLUICE_USAGE, "ids: is NULL");
  expect_refused(sluice_decode(c_model_, nullptr, &text_), SLUICE_USAGE, "tokens: is NULL");
  expect_refused(sluice_logits(nullptr, &tokens_, &tensors_), SLUICE_USAGE, "model: is NULL");
  expect_refused(sluice_logits(c_model_, &no_ids, &tensors_), SLUICE_USAGE, "ids: is NULL");
  expect_refused(sluice_logits(c_model_, &tokens_, nullptr), SLUICE_USAGE, "logits: is NULL");
  expect_refused(sluice_generate(c_model_, nullptr, nullptr, &made_), SLUICE_USAGE, "prompt: is NULL");
  expect_refused(sluice_generate(c_model_, &tokens_, nullptr, nullptr), SLUICE_USAGE, "generated: is NULL");
  expect_refused(sluice_capture(c_model_, nullptr, &tensors_), SLUICE_USAGE, "request: is NULL");
  expect_refused(sluice_capture(c_model_, &request, &tensors_), SLUICE_USAGE, "ids: is NULL");
}

TEST(CInterfaceWithoutAModel, lets_null_be_freed_and_asked) {
  sluice_free_model(nullptr);
  sluice_free_tokens(nullptr);
  sluice_free_text(nullptr);
  sluice_free_tensors(nullptr);
  EXPECT_EQ(sluice_vocabulary(nullptr), 0);
  EXPECT_EQ(sluice_tensor_count(nullptr), 0);
  EXPECT_EQ(sluice_tensor_at(nullptr, 0), nullptr);
  EXPECT_EQ(sluice_tensor_named(nullptr, "logits"), nullptr);
}

TEST_F(CInterface, forgets_an_error_with_the_next_call_and_keeps_it_to_its_thread) {
  EXPECT_EQ(sluice_logits(nullptr, nullptr, &tensors_), SLUICE_USAGE);
  std::string elsewhere = "not asked";
  std::thread([&] { elsewhere = sluice_last_error(); }).join();
  EXPECT_EQ(elsewhere, "");
  EXPECT_EQ(sluice_logits(c_model_, &tokens_, &tensors_), SLUICE_DONE);
  EXPECT_EQ(sluice_last_error(), ""s);
}

}  // namespace
}  // namespace sluice
