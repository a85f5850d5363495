#include "sluice/text/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include "sluice/base/error.h"
#include "sluice/text/pattern_syntax.h"
#include "sluice/text/utf8.h"

namespace sluice {
namespace {

template <auto free>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    free(object);
  }
};

using CodeHandle = std::unique_ptr<pcre2_code, Freed<pcre2_code_free>>;
using CompileContext = std::unique_ptr<pcre2_compile_context, Freed<pcre2_compile_context_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Freed<pcre2_match_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Freed<pcre2_match_data_free>>;
using JitStack = std::unique_ptr<pcre2_jit_stack, Freed<pcre2_jit_stack_free>>;

constexpr std::size_t kMaxPattern = 1 << 16;  // published ones have some hundred characters
constexpr std::size_t kMinStack = 32 << 10, kMaxStack = 1 << 20;
constexpr std::uint32_t kMaxHeapKiB = 64 << 10;  // of the interpreter; its default is 20 GB
constexpr std::uint32_t kMaxSteps = 10'000'000;  // seconds at most

PCRE2_SPTR units(std::string_view text) {
  return reinterpret_cast<PCRE2_SPTR>(text.data());
}

std::string message_of(int error) {
  PCRE2_UCHAR text[256] = {};
  pcre2_get_error_message(error, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

CodeHandle compile(const std::string& pattern, std::uint32_t options, const std::string& where) {
  const CompileContext context(pcre2_compile_context_create(nullptr));
  if (context == nullptr) throw std::bad_alloc();
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE offset = 0;
  CodeHandle code(pcre2_compile(units(pattern), pattern.size(), options, &error, &offset, context.get()));
  if (code == nullptr) {
    throw bad_input({.where = where, .what = fmt::format("invalid pattern: {}", message_of(error))});
  }
  return code;
}

CodeHandle compile(const Pattern::Source& source) {
  if (source.text.size() > kMaxPattern) {
    throw bad_input({.where = source.where,
                     .what = "pattern too long",
                     .expected = fmt::format("at most {} bytes", kMaxPattern)});
  }
  // The reference's library calls a text with a newline several lines, always.
  constexpr std::uint32_t kRegex = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
  if (source.kind == Pattern::Kind::Literal) {
    return compile(source.text, PCRE2_UTF | PCRE2_LITERAL, source.where);
  }
  const PatternTranslation translation = to_pcre2(source.text);
  if (!translation.problem.empty()) {
    throw bad_input({.where = source.where, .what = "cannot use the pattern: " + translation.problem});
  }
  return compile(translation.pattern, kRegex, source.where);
}

}  // namespace

struct PatternScratch::Buffers {
  MatchData match{pcre2_match_data_create(1, nullptr)};  // the whole match; groups are not asked for
  MatchContext context{pcre2_match_context_create(nullptr)};
  JitStack stack{pcre2_jit_stack_create(kMinStack, kMaxStack, nullptr)};  // none without JIT support
};

PatternScratch::PatternScratch() : buffers_(std::make_unique<Buffers>()) {
  if (buffers_->match == nullptr || buffers_->context == nullptr) throw std::bad_alloc();
  pcre2_set_match_limit(buffers_->context.get(), kMaxSteps);
  pcre2_set_heap_limit(buffers_->context.get(), kMaxHeapKiB);
  if (buffers_->stack) pcre2_jit_stack_assign(buffers_->context.get(), nullptr, buffers_->stack.get());
}

PatternScratch::PatternScratch(PatternScratch&&) noexcept = default;
PatternScratch::~PatternScratch() = default;

struct Pattern::Code {
  CodeHandle handle;
  bool jit;
  Source source;
};

Pattern::Pattern(const Source& source) {
  CodeHandle handle = compile(source);
  // A system may forbid memory that is both written and executed; the interpreter gives the same matches.
  const bool jit = pcre2_jit_compile(handle.get(), PCRE2_JIT_COMPLETE) == 0;
  code_ = std::make_unique<const Code>(Code{std::move(handle), jit, source});
}

Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

Pattern::Kind Pattern::kind() const {
  return code_->source.kind;
}

const std::string& Pattern::text() const {
  return code_->source.text;
}

std::optional<Pattern::Match> Pattern::find(std::string_view text, std::size_t from,
                                            PatternScratch& scratch) const {
  const PatternScratch::Buffers& buffers = *scratch.buffers_;
  int found = PCRE2_ERROR_JIT_STACKLIMIT;
  if (code_->jit) {
    found = pcre2_jit_match(code_->handle.get(), units(text), text.size(), from, 0, buffers.match.get(),
                            buffers.context.get());
  }
  // The interpreter has more room than the JIT compiler's stack.
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) {
    found = pcre2_match(code_->handle.get(), units(text), text.size(), from,
                        PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, buffers.match.get(), buffers.context.get());
  }
  if (found == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (found < 0) {
    throw bad_input({.where = code_->source.where,
                     .what = fmt::format("the pattern gives up on a text: {}", message_of(found)),
                     .hint = "nested repetitions in it may need very many steps"});
  }
  const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(buffers.match.get());
  return Match{ends[0], ends[1]};
}

std::size_t Pattern::behind_character(std::string_view text, std::size_t at) {
  return at < text.size() ? at + first_character(text.substr(at)).length : at + 1;
}

}  // namespace sluice
