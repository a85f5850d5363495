#include "sluice/base/system.h"

#include <sys/resource.h>
#include <unistd.h>

#include <climits>
#include <ctime>
#include <fstream>

namespace sluice {

SystemMemory system_memory() {
  SystemMemory memory;
  std::ifstream info("/proc/meminfo");
  std::string key;
  int64_t kibibytes = 0;
  while (info >> key >> kibibytes) {
    if (key == "MemTotal:") memory.total = kibibytes * 1024;
    if (key == "MemAvailable:") memory.available = kibibytes * 1024;
    info.ignore(64, '\n');  // the unit
  }
  if (memory.total == 0) {
    memory.total = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    memory.available = memory.total;
  }
  return memory;
}

int64_t peak_resident_bytes() {
  struct rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  if (::gethostname(name, HOST_NAME_MAX) != 0 || name[0] == '\0') return "localhost";
  return name;
}

std::string utc_time(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  ::gmtime_r(&now, &utc);
  char text[64] = {};
  std::strftime(text, sizeof text, format, &utc);
  return text;
}

}  // namespace sluice
