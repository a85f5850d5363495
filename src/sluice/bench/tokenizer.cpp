#include "sluice/bench/tokenizer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sluice/base/assert.h"
#include "sluice/base/median.h"
#include "sluice/base/stopwatch.h"
#include "sluice/bench/figures.h"
#include "sluice/data/text_reader.h"
#include "sluice/text/tokenizer.h"

namespace sluice::bench {
namespace {

std::string text_of(const std::vector<std::string>& paths) {
  SLUICE_ASSERT(!paths.empty(), "measure_tokenizer: no texts");
  std::string text;
  for (const std::string& path : paths)
    for_each_document(path, [&](std::string_view document) { text += document; });
  if (text.empty()) throw bad_input({.where = paths.front(), .what = "no text in it"});
  return text;
}

}  // namespace

TokenizerSpeed measure_tokenizer(const TokenizerRequest& request, const JobControl& control) {
  const std::string text = text_of(request.texts);
  const Tokenizer tokenizer = Tokenizer::named(request.tokenizer);
  size_t tokens = 0;
  std::vector<double> seconds;
  for (int i = 0; i < request.repetitions; ++i) {
    control.stop_if_cancelled();
    seconds.push_back(seconds_of([&] { tokens = tokenizer.encode(text).size(); }));
  }
  return {.bytes = static_cast<int64_t>(text.size()),
          .tokens = static_cast<int64_t>(tokens),
          .repetitions = request.repetitions,
          .seconds = median(seconds),
          .first_seconds = seconds.front()};
}

nlohmann::ordered_json to_json(const TokenizerSpeed& speed) {
  return {{"what", "tokenizer"},
          {"threads", 1},
          {"bytes", speed.bytes},
          {"tokens", speed.tokens},
          {"repetitions", speed.repetitions},
          {"mb_per_s", rounded(speed.megabytes_per_second())},
          {"first_mb_per_s", rounded(speed.first_megabytes_per_second())}};
}

std::string to_text(const TokenizerSpeed& speed) {
  return line("tokenizer",
              fmt::format("{:.1f} MB/s on one thread ({} bytes, {} tokens, median of {})",
                          speed.megabytes_per_second(), speed.bytes, speed.tokens, speed.repetitions)) +
         line("first time",
              fmt::format("{:.1f} MB/s, before any word is remembered", speed.first_megabytes_per_second()));
}

}  // namespace sluice::bench
