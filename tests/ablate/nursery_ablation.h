// Ablations of the nursery's pair (tests/golden/nursery), on documents of the chain that it was trained on.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sluice/ablate/ablation.h"
#include "sluice/data/backcopy.h"
#include "tests/base/temporary_directory.h"

namespace sluice {

inline std::string nursery_path(const std::string& name) {
  return (std::filesystem::path(SLUICE_SOURCE_DIR) / "tests/golden/nursery" / name).string();
}

// Documents of the chain that the pair was trained on, each as long as a chunk.
inline constexpr int64_t kNurseryLetters = 38, kNurseryChunk = kNurseryLetters + 2;

inline std::vector<TokenId> nursery_tokens(uint64_t first) {
  const BackcopyChain chain(1);
  std::vector<TokenId> tokens;
  for (uint64_t i = 0; i < 20; ++i) {
    for (const char letter : chain.document((uint64_t{1} << 41) + first + i, kNurseryLetters))
      tokens.push_back(static_cast<unsigned char>(letter));
    tokens.push_back(0);
  }
  return tokens;
}

class NurseryAblation : public testing::Test {
 protected:
  AblationRequest request(const std::string& out) const {
    AblationRequest request{.models = {nursery_path("headwise")},
                            .texts = {{.name = "chain", .source = nursery_tokens(0)}},
                            .chunks = {.length = kNurseryChunk, .at_most = 12},
                            .sample_tokens = 4,
                            .out = directory_.path() / out};
    request.plan.groups = {"global", "layers"};
    request.plan.global_actions = {"open", "closed"};
    request.plan.values = {};
    request.plan.layer_actions = {"open"};
    request.plan.layers_with_heads = 1;
    return request;
  }

  std::string result_of(const AblationRequest& request) {
    return to_json(run_ablation(engine_, request)).dump();
  }

  Engine engine_;
  TemporaryDirectory directory_;
};

}  // namespace sluice
