// Loaded into a program (LD_PRELOAD): from the moment that a file appears, one of its ranks gets no more
// memory in blocks of some size. When the first one was refused another file tells.
//
// FAILING_RANK which, FAILING_BYTES from which size on, FAILING_FROM the first file, FAILING_SINCE the other.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

// Nothing here may ask for memory.
struct Failing {
  const char* from = nullptr;  // none: this rank never fails
  const char* since = nullptr;
  size_t bytes = 0;
  std::atomic<bool> told = false;

  Failing() {
    const char* own = std::getenv("OMPI_COMM_WORLD_RANK");
    const char* rank = std::getenv("FAILING_RANK");
    if (own == nullptr || rank == nullptr || std::strcmp(own, rank) != 0) return;
    since = std::getenv("FAILING_SINCE");
    bytes = std::strtoull(std::getenv("FAILING_BYTES"), nullptr, 10);
    from = std::getenv("FAILING_FROM");
  }

  bool refuses(size_t asked) {
    if (from == nullptr || asked < bytes || ::access(from, F_OK) != 0) return false;
    if (!told.exchange(true)) ::close(::open(since, O_CREAT | O_WRONLY, 0600));
    errno = ENOMEM;
    return true;
  }
};

Failing failing;

}  // namespace

// That of C++ alone: how MPI fails for want of memory is its own affair.
void* operator new(size_t bytes) {
  while (true) {
    void* memory = failing.refuses(bytes) ? nullptr : std::malloc(bytes);
    if (memory != nullptr) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

extern "C" void* aligned_alloc(size_t alignment, size_t bytes) {
  using Allocate = void* (*)(size_t, size_t);
  static const auto usual = reinterpret_cast<Allocate>(::dlsym(RTLD_NEXT, "aligned_alloc"));
  return failing.refuses(bytes) ? nullptr : usual(alignment, bytes);
}
