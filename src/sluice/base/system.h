// The machine around the process, as the operating system tells it.
#pragma once

#include <cstdint>
#include <string>

namespace sluice {

struct SystemMemory {
  int64_t total = 0;      // bytes
  int64_t available = 0;  // bytes that can be had without swapping
};

SystemMemory system_memory();

// The most that this process has had in memory at once, mapped files included; bytes.
int64_t peak_resident_bytes();

// By which the machine calls itself; "localhost" if it has no name.
std::string host_name();

// Now, as strftime() writes it.
std::string utc_time(const char* format);

}  // namespace sluice
