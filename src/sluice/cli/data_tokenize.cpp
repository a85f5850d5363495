#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/base/error.h"
#include "sluice/base/interrupt.h"
#include "sluice/cli/data.h"
#include "sluice/cli/overwriting.h"
#include "sluice/cli/progress.h"
#include "sluice/data/tokenize.h"

namespace sluice::cli {
namespace {

TokenId end_of_text(const DataOptions& options, const Tokenizer& tokenizer) {
  if (!options.end_of_text) return end_of_text_of(tokenizer);
  const std::optional<TokenId> id = tokenizer.token_to_id(*options.end_of_text);
  if (id) return *id;
  throw usage_error({.where = "--end-of-text",
                     .what = fmt::format("the tokenizer has no token \"{}\"", *options.end_of_text),
                     .hint = "leave it out for the usual one"});
}

}  // namespace

void tokenize(const DataOptions& options, const Session& session) {
  refuse_overwriting(*options.out, options.files);
  const Tokenizer tokenizer = Tokenizer::named(options.files.front());
  Progress progress(session.log, "documents", 0);
  const TokenizeRequest request{.files = {options.files.begin() + 1, options.files.end()},
                                .format = options.format.format(),
                                .out = *options.out,
                                .end_of_text = end_of_text(options, tokenizer),
                                .done = [&](int64_t documents) {
                                  throw_if_interrupted();
                                  progress.done(documents);
                                }};
  const TokenShardInfo info = tokenize_files(tokenizer, request, Threads(session.options.threads));
  if (session.options.json) {
    session.out << shard_json(*options.out, info).dump(2) << '\n';
    return;
  }
  session.out << fmt::format("{}: {} tokens in {} documents, from {} bytes of text\n", *options.out,
                             info.tokens, info.documents, info.text_bytes);
}

}  // namespace sluice::cli
