// What tells one model or file from another: the CRC-32 of its bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace sluice {

// A file by its bytes; a model's directory, or a run's, by its config.json and its weights. Reads all of it.
// None of what cannot be read again, like a pipe.
std::optional<uint32_t> checksum_of_source(const std::filesystem::path& path);

}  // namespace sluice
