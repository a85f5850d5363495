#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/base/error.h"
#include "sluice/cli/bench/bench.h"
#include "sluice/cli/peaks.h"
#include "sluice/data/text_reader.h"
#include "sluice/text/tokenizer.h"

namespace sluice::cli {

void bench_tokenizer(const BenchRequest& request, const Session& session) {
  if (request.data.empty()) {
    throw usage_error({.where = "bench tokenizer", .what = "--data is required"});
  }
  std::string text;
  for (const std::string& path : request.data)
    for_each_document(path, [&](std::string_view document) { text += document; });
  if (text.empty()) throw bad_input({.where = request.data.front(), .what = "no text in it"});
  const Tokenizer tokenizer = Tokenizer::named(request.model);
  size_t tokens = 0;
  std::vector<double> seconds;
  for (int i = 0; i < request.repetitions(); ++i)
    seconds.push_back(seconds_of([&] { tokens = tokenizer.encode(text).size(); }));
  const auto megabytes = static_cast<double>(text.size()) / 1e6;
  const double rate = megabytes / median(seconds);
  const double first = megabytes / seconds.front();  // with nothing remembered of earlier words
  if (session.options.json) {
    const nlohmann::ordered_json json = {{"what", "tokenizer"},
                                         {"threads", 1},
                                         {"bytes", text.size()},
                                         {"tokens", tokens},
                                         {"repetitions", request.repetitions()},
                                         {"mb_per_s", rounded(rate)},
                                         {"first_mb_per_s", rounded(first)}};
    session.out << json.dump(2) << '\n';
    return;
  }
  session.out << fmt::format(
                     "tokenizer       {:.1f} MB/s on one thread ({} bytes, {} tokens, median of {})\n", rate,
                     text.size(), tokens, request.repetitions())
              << fmt::format("first time      {:.1f} MB/s, before any word is remembered\n", first);
}

}  // namespace sluice::cli
