#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sluice/bench/figures.h"
#include "sluice/bench/scale.h"

namespace sluice::bench {
namespace {

nlohmann::ordered_json scale_case_json(const ScaleCase& each) {
  return {{"scaling", each.weak ? "weak" : "strong"},
          {"order", name_of(each.order)},
          {"ranks", each.ranks},
          {"threads", each.threads},
          {"tokens_per_rank", each.rank_tokens},
          {"seconds", rounded(each.seconds)},
          {"tokens_per_s", rounded(each.tokens_per_s)},
          {"efficiency", rounded(each.efficiency)},
          {"sent_bytes", each.sent.bytes},
          {"messages", each.sent.messages},
          {"waited_seconds", rounded(each.waited)},
          {"hidden_share", rounded(each.hidden)},
          {"model_seconds",
           each.ranks > 1 ? nlohmann::ordered_json(rounded(each.predicted)) : nlohmann::ordered_json()}};
}

// One rank sends nothing, and is what the model begins with.
std::string of_several(const ScaleCase& each, double value, int digits) {
  return each.ranks > 1 ? fmt::format("{:.{}f}", value, digits) : "-";
}

nlohmann::ordered_json scale_prediction_json(const ScalePrediction& each) {
  return {{"nodes", each.nodes},
          {"order", name_of(each.order)},
          {"strong_seconds", rounded(each.strong)},
          {"weak_seconds", rounded(each.weak)},
          {"sent_bytes", each.sent.bytes},
          {"messages", each.sent.messages},
          {"state_bytes", each.state_bytes}};
}

nlohmann::ordered_json scale_link_json(const Link& link) {
  return {{"latency_seconds", rounded(link.latency)}, {"bytes_per_s", rounded(link.bandwidth)}};
}

std::string link_text(const Link& link) {
  return fmt::format("{:.1f} us and {:.3g} GB/s a message", link.latency * 1e6, link.bandwidth / 1e9);
}

}  // namespace

nlohmann::ordered_json to_json(const ScaleResult& result) {
  nlohmann::ordered_json json = {
      {"what", "scale"}, {"parameters", result.parameters}, {"batch_tokens", result.batch_tokens}};
  json["link"] = result.link.bandwidth > 0 ? scale_link_json(result.link) : nullptr;
  for (const ScaleCase& each : result.cases) json["cases"].push_back(scale_case_json(each));
  json["network"] = scale_link_json(result.network);
  for (const ScalePrediction& each : result.predictions)
    json["predictions"].push_back(scale_prediction_json(each));
  return json;
}

std::string to_text(const ScaleResult& result) {
  std::string text = fmt::format("{:<8}{:<11}{:>14}{:>13}{:>10}{:>12}{:>11}{:>10}{:>9}{:>8}{:>9}\n",
                                 "scaling", "order", "ranks x thr.", "tokens/rank", "s a step", "tokens/s",
                                 "efficiency", "MB sent", "waited", "hidden", "model");
  for (const ScaleCase& each : result.cases) {
    text += fmt::format("{:<8}{:<11}{:>14}{:>13}{:>10.3f}{:>12.0f}{:>11.2f}{:>10}{:>9}{:>8}{:>9}\n",
                        each.weak ? "weak" : "strong", name_of(each.order),
                        fmt::format("{} x {}", each.ranks, each.threads), each.rank_tokens, each.seconds,
                        each.tokens_per_s, each.efficiency, of_several(each, each.sent.bytes / 1e6, 1),
                        of_several(each, each.waited, 3), of_several(each, each.hidden, 2),
                        of_several(each, each.predicted, 3));
  }
  text += line("parameters", std::to_string(result.parameters));
  text += line("between ranks", result.link.bandwidth > 0
                                    ? link_text(result.link)
                                    : "one rank: mpirun -n N sluice bench scale measures more");
  text += fmt::format(
      "\nPredicted, not measured, for nodes like this rank, {}; a step of {} tokens on all nodes "
      "together (strong) or on each (weak):\n",
      link_text(result.network), result.batch_tokens);
  text += fmt::format("{:<8}{:<11}{:>12}{:>12}{:>12}{:>12}{:>14}\n", "nodes", "order", "s strong", "s weak",
                      "MB sent", "messages", "GB of state");
  for (const ScalePrediction& each : result.predictions) {
    text += fmt::format("{:<8}{:<11}{:>12.4f}{:>12.4f}{:>12.1f}{:>12.0f}{:>14.2f}\n", each.nodes,
                        name_of(each.order), each.strong, each.weak, each.sent.bytes / 1e6,
                        each.sent.messages, each.state_bytes / 1e9);
  }
  return text;
}

}  // namespace sluice::bench
