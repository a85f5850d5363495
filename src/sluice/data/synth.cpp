#include "sluice/data/synth.h"

#include <array>

#include "sluice/base/assert.h"
#include "sluice/data/synth/kinds.h"

namespace sluice {
namespace {

struct KindRow {
  TextKind kind;
  std::string_view name;
  std::string (*make)(synth::Dice&);
};

constexpr std::array kKinds = {
    KindRow{TextKind::Story, "story", synth::story},
    KindRow{TextKind::Fact, "fact", synth::fact},
    KindRow{TextKind::Technical, "technical", synth::technical},
    KindRow{TextKind::Dialogue, "dialogue", synth::dialogue},
    KindRow{TextKind::Code, "code", synth::code},
    KindRow{TextKind::Repetitive, "repetitive", synth::repetitive},
};

const KindRow& row_of(TextKind kind) {
  for (const KindRow& row : kKinds)
    if (row.kind == kind) return row;
  SLUICE_ASSERT(false, "synth: unknown kind {}", static_cast<int>(kind));
}

}  // namespace

std::span<const TextKind> all_text_kinds() {
  static constexpr auto kAll = [] {
    std::array<TextKind, kKinds.size()> kinds{};
    for (size_t i = 0; i < kKinds.size(); ++i) kinds[i] = kKinds[i].kind;
    return kinds;
  }();
  return kAll;
}

std::string_view name_of(TextKind kind) {
  return row_of(kind).name;
}

std::string synth_document(const SynthId& id) {
  const Random random = Random(id.seed).child(static_cast<uint64_t>(id.kind)).child(id.index);
  synth::Dice dice(random);
  std::string text = row_of(id.kind).make(dice);
  SLUICE_ASSERT(text.size() >= kMinSynthBytes && text.size() <= kMaxSynthBytes,
                "synth: document {} of kind {} has {} bytes", id.index, name_of(id.kind), text.size());
  return text;
}

}  // namespace sluice
