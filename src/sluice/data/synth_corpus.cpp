#include "sluice/data/synth_corpus.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sluice/base/atomic_file.h"
#include "sluice/base/error.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

enum class CorpusFormat { JsonLines, Text };

CorpusFormat format_of(const std::filesystem::path& path) {
  if (path.extension() == ".jsonl") return CorpusFormat::JsonLines;
  if (path.extension() == ".txt") return CorpusFormat::Text;
  throw usage_error({.where = "synthetic text",
                     .what = "unknown kind of file",
                     .expected = "a name that ends in .jsonl or .txt",
                     .got = fmt::format("\"{}\"", path.string())});
}

std::string formatted(const std::string& text, TextKind kind, CorpusFormat format) {
  if (format == CorpusFormat::Text) return text + '\n';  // a blank line between documents
  return ordered_json{{"text", text}, {"kind", name_of(kind)}}.dump() + '\n';
}

}  // namespace

SynthCorpus write_synth_corpus(const SynthCorpusRequest& request, const JobControl& control) {
  const CorpusFormat format = format_of(request.out);
  const std::span<const TextKind> kinds =
      request.kinds.empty() ? all_text_kinds() : std::span<const TextKind>(request.kinds);
  AtomicFile file(request.out);
  SynthCorpus corpus{.path = request.out};
  const int64_t& done = request.bytes ? corpus.bytes : corpus.documents;
  const int64_t wanted = request.bytes.value_or(request.documents);
  while (done < wanted) {
    control.stop_if_cancelled();
    const auto index = static_cast<uint64_t>(corpus.documents);
    const TextKind kind = kinds[index % kinds.size()];
    const std::string text = synth_document({.kind = kind, .seed = request.seed, .index = index});
    file.write(formatted(text, kind, format));
    corpus.documents += 1;
    corpus.bytes += std::ssize(text);
    control.report(request.bytes ? "bytes" : "documents", done, wanted);
  }
  file.commit();
  return corpus;
}

ordered_json to_json(const SynthCorpus& corpus) {
  return {{"path", corpus.path.string()}, {"documents", corpus.documents}, {"bytes", corpus.bytes}};
}

std::string to_text(const SynthCorpus& corpus) {
  return fmt::format("{}: {} documents, {} bytes of text\n", corpus.path.string(), corpus.documents,
                     corpus.bytes);
}

}  // namespace sluice
