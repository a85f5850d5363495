// One process at a time in a directory.
#pragma once

#include <filesystem>
#include <string>

#include "sluice/base/file_descriptor.h"

namespace sluice {

// The name of the file that is locked. It stays.
inline constexpr const char* kLockName = ".lock";

// Held by the open file: the system lets go of it when the process ends, however it ends. A failure, which
// says what the other one does there ("another process trains in this directory"), if somebody has it.
FileDescriptor lock_directory(const std::filesystem::path& directory, const std::string& what_others_do);

}  // namespace sluice
