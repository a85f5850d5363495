// What the writers of files and directories share: errors of the system, temporary names, durability.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "sluice/base/error.h"
#include "sluice/base/file_descriptor.h"

namespace sluice {

// What errno says now.
std::error_code last_system_error();

// "where: action: what the system says", a failure.
Error system_failure(const std::filesystem::path& where, std::string_view action,
                     const std::error_code& error);

// A name that nothing has yet; whoever finds one may delete it if nobody is writing beside it.
std::string temporary_name();
bool is_temporary_name(std::string_view name);

// Deletes what killed processes left in a directory under such names. The caller knows that none is writing.
void remove_temporaries(const std::filesystem::path& directory);

// The names in a directory, sorted. Not by std::filesystem's iterators: those of g++ end the program where
// memory runs out on the way.
std::vector<std::string> names_in(const std::filesystem::path& directory, std::error_code& error);

// Waits until a file, or the names in a directory, are on the disk. False, with errno set, if that fails.
bool sync(const FileDescriptor& open);

// A failure unless `directory` is empty, or does not exist and can be made: nothing is ever replaced. Whether
// it can be made is tried out, with a directory of another name that is removed at once.
void check_can_fill(const std::filesystem::path& directory);

}  // namespace sluice
