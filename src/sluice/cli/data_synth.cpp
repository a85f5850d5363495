#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/base/atomic_file.h"
#include "sluice/base/error.h"
#include "sluice/base/interrupt.h"
#include "sluice/cli/data.h"
#include "sluice/cli/progress.h"
#include "sluice/data/synth.h"
#include "sluice/text/utf8.h"

namespace sluice::cli {
namespace {

using nlohmann::ordered_json;

constexpr int64_t kDefaultDocuments = 1000;

enum class Format { JsonLines, Text };

Format format_of(const std::string& path) {
  if (path.ends_with(".jsonl")) return Format::JsonLines;
  if (path.ends_with(".txt")) return Format::Text;
  throw usage_error({.where = "--out",
                     .what = "unknown kind of file",
                     .expected = "a name that ends in .jsonl or .txt",
                     .got = fmt::format("\"{}\"", path)});
}

std::vector<TextKind> kinds_of(const DataOptions& options) {
  std::vector<TextKind> kinds;
  for (const TextKind kind : all_text_kinds()) {
    const auto asked = std::ranges::count(options.kinds, name_of(kind));
    if (asked > 0 || options.kinds.empty()) kinds.push_back(kind);
  }
  return kinds;
}

std::string formatted(const std::string& text, TextKind kind, Format format) {
  if (format == Format::Text) return text + '\n';  // a blank line between documents
  return ordered_json{{"text", text}, {"kind", name_of(kind)}}.dump() + '\n';
}

struct Made {
  int64_t documents = 0, bytes = 0;
};

Made make(const DataOptions& options, const Session& session) {
  const Format format = format_of(*options.out);
  const std::vector<TextKind> kinds = kinds_of(options);
  const int64_t wanted = options.bytes.value_or(options.documents.value_or(kDefaultDocuments));
  Progress progress(session.log, options.bytes ? "bytes" : "documents", wanted);
  AtomicFile file(*options.out);
  Made made;
  while ((options.bytes ? made.bytes : made.documents) < wanted) {
    throw_if_interrupted();
    const auto index = static_cast<uint64_t>(made.documents);
    const TextKind kind = kinds[index % kinds.size()];
    const std::string text = synth_document(
        {.kind = kind, .seed = static_cast<uint64_t>(options.seed.value_or(0)), .index = index});
    file.write(formatted(text, kind, format));
    made.documents += 1;
    made.bytes += static_cast<int64_t>(text.size());
    progress.done(options.bytes ? static_cast<int64_t>(text.size()) : 1);
  }
  file.commit();
  return made;
}

}  // namespace

void synthesise(const DataOptions& options, const Session& session) {
  const Made made = make(options, session);
  if (session.options.json) {
    session.out << ordered_json{{"path", with_ill_formed_replaced(*options.out)},
                                {"documents", made.documents},
                                {"bytes", made.bytes}}
                       .dump(2)
                << '\n';
    return;
  }
  session.out << fmt::format("{}: {} documents, {} bytes of text\n", *options.out, made.documents,
                             made.bytes);
}

}  // namespace sluice::cli
