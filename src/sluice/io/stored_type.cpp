#include "sluice/io/stored_type.h"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

struct Row {
  StoredType type;
  std::string_view name;
  size_t size;
};

// In the order of the enumeration, which is how rows are found.
constexpr std::array kRows = {
    Row{StoredType::Bool, "BOOL", 1},       Row{StoredType::U8, "U8", 1},
    Row{StoredType::I8, "I8", 1},           Row{StoredType::F8_E4M3, "F8_E4M3", 1},
    Row{StoredType::F8_E5M2, "F8_E5M2", 1}, Row{StoredType::F8_E8M0, "F8_E8M0", 1},
    Row{StoredType::U16, "U16", 2},         Row{StoredType::I16, "I16", 2},
    Row{StoredType::F16, "F16", 2},         Row{StoredType::BF16, "BF16", 2},
    Row{StoredType::U32, "U32", 4},         Row{StoredType::I32, "I32", 4},
    Row{StoredType::F32, "F32", 4},         Row{StoredType::U64, "U64", 8},
    Row{StoredType::I64, "I64", 8},         Row{StoredType::F64, "F64", 8},
    Row{StoredType::C64, "C64", 8},
};

constexpr bool rows_are_in_order() {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<size_t>(kRows[i].type) != i) return false;
  }
  return true;
}
static_assert(rows_are_in_order());

const Row& row_of(StoredType type) {
  return kRows.at(static_cast<size_t>(type));
}

}  // namespace

size_t size_of(StoredType type) {
  return row_of(type).size;
}

std::string_view name_of(StoredType type) {
  return row_of(type).name;
}

std::optional<StoredType> stored_type_named(std::string_view name) {
  const auto* found =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& row) { return row.name == name; });
  if (found == kRows.end()) return {};
  return found->type;
}

bool is_readable(StoredType type) {
  return type == StoredType::F32 || type == StoredType::BF16 || type == StoredType::F16;
}

}  // namespace sluice
