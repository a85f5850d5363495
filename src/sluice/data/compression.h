// Unpacking files: gzip always; bzip2, xz and zstd where their libraries were there when Sluice was built.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

enum class Compression { Gzip, Bzip2, Xz, Zstd };

std::string_view name_of(Compression compression);  // "bzip2"

// Those that this build can unpack.
std::vector<Compression> built_in_compressions();

// What a file is packed with by its first bytes; none if it is not packed with any of these.
std::optional<Compression> compression_of(std::string_view bytes);

// By the ending of its name, and the name of what is inside.
std::optional<Compression> compression_named(std::string_view path);
std::string_view without_packing(std::string_view path);

// All members of the file, one after the other. Bad input, named `where`, if it is damaged or cut off or if
// more than max_bytes come out, or if this build cannot unpack it. Memory grows with what comes out, not with
// what a file promises.
std::string unpack(std::string_view bytes, Compression compression, const std::string& where,
                   size_t max_bytes);

}  // namespace sluice
