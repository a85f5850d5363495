// Text without end, made here from tables and small simulations: for trying things without a corpus, for
// tests and for the demo. It is English-like and meant to reward a model that looks back: names, places and
// counts come up again, brackets close, and questions are answered by what was said before.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

enum class TextKind {
  Story,       // people, a thing that changes hands, a count that changes; the end asks who has the thing
  Fact,        // invented places, animals and instruments, then questions about them
  Technical,   // numbered instructions over parts whose states must be put back
  Dialogue,    // one speaker tells, the other asks again later
  Code,        // functions in a language with braces or one with indentation
  Repetitive,  // refrains, cycles and lists
};

std::span<const TextKind> all_text_kinds();
std::string_view name_of(TextKind kind);  // "story"

// Where a document belongs: its text depends on these three alone.
struct SynthId {
  TextKind kind = TextKind::Story;
  uint64_t seed = 0;
  uint64_t index = 0;
};

// What every document keeps within.
constexpr size_t kMinSynthBytes = 300;
constexpr size_t kMaxSynthBytes = 4000;

// ASCII, ends with a line feed.
std::string synth_document(const SynthId& id);

}  // namespace sluice
