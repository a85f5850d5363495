// The machine around the process, as the operating system tells it.
#pragma once

#include <cstdint>

namespace sluice {

struct SystemMemory {
  int64_t total = 0;      // bytes
  int64_t available = 0;  // bytes that can be had without swapping
};

SystemMemory system_memory();

}  // namespace sluice
