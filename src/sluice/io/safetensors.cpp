#include "sluice/io/safetensors.h"

#include "sluice/base/error.h"

namespace sluice {

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : file_name_(path.string()), file_(path), header_(parse_safetensors_header(file_.bytes(), file_name_)) {
  for (size_t i = 0; i < header_.tensors.size(); ++i) index_.emplace(header_.tensors[i].name, i);
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> names;
  names.reserve(header_.tensors.size());
  for (const SafetensorsEntry& each : header_.tensors) names.push_back(each.name);
  return names;
}

std::span<const std::byte> SafetensorsFile::bytes(std::string_view name) const {
  const SafetensorsEntry& found = entry(name);
  return file_.bytes().subspan(found.offset, found.info.bytes());
}

const SafetensorsEntry& SafetensorsFile::entry(std::string_view name) const {
  const auto found = index_.find(name);
  if (found == index_.end()) {
    // No "did you mean": the nearest name is that of another layer.
    throw bad_input({.where = tensor_place(file_name_, name), .what = "is missing"});
  }
  return header_.tensors[found->second];
}

}  // namespace sluice
