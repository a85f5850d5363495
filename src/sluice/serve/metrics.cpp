#include "sluice/serve/metrics.h"

#include <fmt/format.h>

#include <vector>

namespace sluice::serve {
namespace {

std::string heading(std::string_view name, std::string_view type, std::string_view help) {
  return fmt::format("# HELP sluice_{0} {2}\n# TYPE sluice_{0} {1}\n", name, type, help);
}

}  // namespace

void Metrics::count_computation(const std::string& kind, double seconds) {
  const std::scoped_lock lock(mutex_);
  Computations& each = computations_[kind];
  ++each.count;
  each.seconds += seconds;
}

std::string Metrics::text(const std::vector<Gauge>& gauges) const {
  std::string text;
  const auto add = [&](std::string_view name, std::string_view type, std::string_view help, auto value) {
    text += heading(name, type, help) + fmt::format("sluice_{} {}\n", name, value);
  };
  add("connections", "gauge", "Open connections", connections.load());
  add("connections_accepted_total", "counter", "Connections accepted", accepted.load());
  add("connections_turned_away_total", "counter", "Connections refused or closed for another one",
      turned_away.load());
  add("clients_cut_off_total", "counter", "Connections closed because the client was too slow",
      cut_off.load());
  add("computations_cancelled_total", "counter", "Requests whose client went away", cancelled.load());
  add("sent_bytes_total", "counter", "Bytes sent", sent_bytes.load());
  add("generated_tokens_total", "counter", "Tokens generated", generated_tokens.load());
  add("views_computed_total", "counter", "Views that took a pass", views_computed.load());
  add("views_cached_total", "counter", "Views that were there already", views_cached.load());
  for (const Gauge& gauge : gauges) add(gauge.name, "gauge", gauge.help, gauge.value);

  text += heading("responses_total", "counter", "Responses by the class of their status");
  for (size_t digit = 2; digit < responses_.size(); ++digit)
    text += fmt::format("sluice_responses_total{{status=\"{}xx\"}} {}\n", digit, responses_[digit].load());
  const std::scoped_lock lock(mutex_);
  text += heading("computations_total", "counter", "Computations by kind");
  for (const auto& [kind, each] : computations_)
    text += fmt::format("sluice_computations_total{{kind=\"{}\"}} {}\n", kind, each.count);
  text += heading("computation_seconds_total", "counter", "Time of computations by kind");
  for (const auto& [kind, each] : computations_)
    text += fmt::format("sluice_computation_seconds_total{{kind=\"{}\"}} {:.6f}\n", kind, each.seconds);
  return text;
}

}  // namespace sluice::serve
