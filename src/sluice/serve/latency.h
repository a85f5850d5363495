// How long somebody at the explorer's page waits: requests to a server on this machine, with what the server
// computed and what the rest took apart.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/infer/loaded_model.h"

namespace sluice::serve {

struct LatencyRequest {
  std::filesystem::path model;
  ModelOptions options = {};
  std::vector<int64_t> lengths = {32, 256, 1024};  // tokens of the prompts
  int repetitions = 20;                            // of each
};

// Somebody who moves a slider and sees what comes of it so soon takes it for the same movement. For models
// that answer as fast on any machine: 10 million parameters, prompts of 256 tokens.
constexpr double kSliderLimit = 0.150;
constexpr int64_t kSliderParameters = 10'000'000, kSliderTokens = 256;

struct Percentiles {
  double p50 = 0, p95 = 0;  // seconds
};

struct Latency {
  const char* what = "";  // "new prompt"
  int64_t tokens = 0;
  Percentiles whole = {};            // from the request's first byte to the answer's last
  Percentiles server = {};           // of it what the server computed; 0 of what was there already
  int64_t bytes = 0;                 // of an answer, the median
  std::optional<double> limit = {};  // what `whole` should stay below, if anything

  bool is_missed() const { return limit && whole.p95 > *limit; }
};

struct Latencies {
  std::string model;
  int repetitions = 0;
  std::vector<Latency> rows = {};
};

// A new prompt (a view), a moved gate (a comparison with the prompt as it was; without a gate, attention's
// output is scaled) and a map of a view that is kept. What a browser takes to draw is not in it.
Latencies measure_latency(Engine& engine, const LatencyRequest& request, const JobControl& control = {});

nlohmann::ordered_json to_json(const Latencies& latencies);
std::string to_text(const Latencies& latencies);

}  // namespace sluice::serve
