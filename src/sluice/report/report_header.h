// The part of a report's header that is the same for every use case: who computed, where and when.
#pragma once

#include <filesystem>
#include <string>

#include "sluice/ops/engine.h"
#include "sluice/report/report.h"

namespace sluice {

// Version, machine and the present time. The command is as the user typed it; a program that embeds the
// library may leave it empty.
ReportHeader report_header(const Engine& engine, std::string command);

// A file by its bytes; a model's directory, or a run's, by its config.json and its weights. Reads all of it.
// What was read from a pipe cannot be read again and has no checksum.
ReportSource report_source(std::string role, const std::filesystem::path& path);

// "crc32 1f2e3d4c", as report_source() writes it; for what has its checksum already, like a token shard.
std::string checksum_text(uint32_t crc32);

}  // namespace sluice
