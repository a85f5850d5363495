// A safetensors file, mapped and checked. Files are named as the caller names them in every message.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/file.h"
#include "sluice/io/safetensors_header.h"

namespace sluice {

// Only the header is read when it is opened; the tensors' pages come in as they are touched. Safe to share
// between threads once made.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::string& file_name() const { return file_name_; }
  const SafetensorsMetadata& metadata() const { return header_.metadata; }

  std::vector<std::string> names() const;  // in the order of their data
  bool contains(std::string_view name) const { return index_.find(name) != index_.end(); }

  // A name that is not there is bad input.
  const TensorInfo& info(std::string_view name) const { return entry(name).info; }

  // Of any type, as stored: little endian, row-major, not aligned to anything. As long as this object lives.
  std::span<const std::byte> bytes(std::string_view name) const;

 private:
  const SafetensorsEntry& entry(std::string_view name) const;

  std::string file_name_;
  MappedFile file_;
  SafetensorsHeader header_;
  std::map<std::string, size_t, std::less<>> index_;  // into header_.tensors
};

}  // namespace sluice
