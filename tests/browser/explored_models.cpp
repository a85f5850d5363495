#include "tests/browser/explored_models.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/cli/run_program.h"

namespace sluice::test {
namespace {

constexpr std::chrono::seconds kLongestStart{120};

// More layers than fit on a screen, so that something is out of sight; the nursery's tokens.
void make_deep_model(const std::string& path, const std::string& config_path, const DeepShape& shape) {
  const nlohmann::json config = {{"model_type", "qwen3"},
                                 {"vocab_size", 320},  // more than the tokenizer knows
                                 {"hidden_size", shape.heads * shape.channels},
                                 {"intermediate_size", 96},
                                 {"num_hidden_layers", shape.layers},
                                 {"num_attention_heads", shape.heads},
                                 {"num_key_value_heads", shape.heads},
                                 {"head_dim", shape.channels},
                                 {"max_position_embeddings", 1024},
                                 {"rms_norm_eps", 1e-6},
                                 {"rope_theta", 10000.0},
                                 {"tie_word_embeddings", true},
                                 {"use_qk_norm", true},
                                 {"elementwise_attn_output_gate", true}};
  std::ofstream(config_path) << config;
  const ProgramRun made = run_sluice({"init", config_path, path, "--quiet"});
  if (made.exit_code != 0) throw std::runtime_error("sluice init: " + made.err);
  const std::filesystem::path nursery = std::string(SLUICE_NURSERY) + "/headwise";
  for (const char* file : {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"})
    std::filesystem::copy_file(nursery / file, std::filesystem::path(path) / file);
}

}  // namespace

ExploredModels::ExploredModels(const DeepShape& shape, const std::string& program) {
  const std::string deep = folder_.path("deep");
  make_deep_model(deep, folder_.path("config.json"), shape);
  const std::string nursery = SLUICE_NURSERY;
  server_ = std::make_unique<BackgroundProcess>(
      program,
      std::vector<std::string>{"explore", nursery + "/baseline", nursery + "/headwise", deep, "--port", "0"},
      folder_.path("server.log"));
  const int port = server_->wait_for_number("http://127.0.0.1:", kLongestStart);
  address_ = "http://127.0.0.1:" + std::to_string(port);
}

}  // namespace sluice::test
