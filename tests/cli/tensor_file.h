// A safetensors file as anybody can read it: a length, a JSON header, the values.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sluice::test {

class TensorFile {
 public:
  explicit TensorFile(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    header_ = nlohmann::json::parse(bytes.substr(sizeof length, length));
    data_ = bytes.substr(sizeof length + length);
    metadata_ = header_.value("__metadata__", nlohmann::json::object());
    header_.erase("__metadata__");
  }

  const nlohmann::json& metadata() const { return metadata_; }
  bool contains(const std::string& name) const { return header_.contains(name); }
  std::string dtype(const std::string& name) const { return header_.at(name).at("dtype"); }
  std::vector<int64_t> shape(const std::string& name) const { return header_.at(name).at("shape"); }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, entry] : header_.items()) names.push_back(name);
    return names;
  }

  int64_t elements() const {
    int64_t sum = 0;
    for (const auto& entry : header_) {
      int64_t count = 1;
      for (const int64_t size : entry.at("shape")) count *= size;
      sum += count;
    }
    return sum;
  }

  std::string bytes(const std::string& name) const {
    const std::vector<size_t> range = header_.at(name).at("data_offsets");
    return data_.substr(range.at(0), range.at(1) - range.at(0));
  }

  template <class T>
  std::vector<T> values(const std::string& name) const {
    const std::string content = bytes(name);
    std::vector<T> values(content.size() / sizeof(T));
    std::memcpy(values.data(), content.data(), content.size());
    return values;
  }

 private:
  nlohmann::json header_, metadata_;
  std::string data_;
};

}  // namespace sluice::test
