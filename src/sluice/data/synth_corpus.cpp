#include "sluice/data/synth_corpus.h"

#include <fmt/format.h>

#include <functional>
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

struct Document {
  std::string text;
  std::string_view kind;
};

std::string formatted(const Document& document, CorpusFormat format) {
  if (format == CorpusFormat::Text) return document.text + '\n';  // a blank line between documents
  return ordered_json{{"text", document.text}, {"kind", document.kind}}.dump() + '\n';
}

std::function<Document(uint64_t)> documents_of(const SynthCorpusRequest& request) {
  if (request.backcopy_letters) {
    return [chain = BackcopyChain(request.seed), letters = *request.backcopy_letters,
            unseen = unseen_signs(request.backcopy_start)](uint64_t index) {
      return Document{chain.document(index, static_cast<size_t>(letters)).substr(unseen), "backcopy"};
    };
  }
  const std::span<const TextKind> all = all_text_kinds();
  std::vector<TextKind> kinds = request.kinds;
  if (kinds.empty()) kinds.assign(all.begin(), all.end());
  return [kinds, seed = request.seed](uint64_t index) {
    const TextKind kind = kinds[index % kinds.size()];
    return Document{synth_document({.kind = kind, .seed = seed, .index = index}), name_of(kind)};
  };
}

}  // namespace

SynthCorpus write_synth_corpus(const SynthCorpusRequest& request, const JobControl& control) {
  const CorpusFormat format = format_of(request.out);
  const std::function<Document(uint64_t)> document = documents_of(request);
  AtomicFile file(request.out);
  SynthCorpus corpus{.path = request.out};
  const int64_t& done = request.bytes ? corpus.bytes : corpus.documents;
  const int64_t wanted = request.bytes.value_or(request.documents);
  while (done < wanted) {
    control.stop_if_cancelled();
    const Document next = document(static_cast<uint64_t>(corpus.documents));
    file.write(formatted(next, format));
    corpus.documents += 1;
    corpus.bytes += std::ssize(next.text);
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
