#include "sluice/kernels/blas/gemm.h"

#include <cblas.h>
#include <strings.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <new>
#include <vector>

extern "C" {
// Of OpenBLAS itself, which has no header for them; other libraries may lack them.
[[gnu::weak]] void* blas_memory_alloc(int);
[[gnu::weak]] void blas_memory_free(void*);
}

namespace sluice::blas {
namespace {

// OpenBLAS keeps a buffer for every product that is under way at the same time. Where the system refuses the
// memory it asks again for ever, so all buffers are made before the first product, and each is tried out
// first.
constexpr size_t kBufferBytes = size_t{129} << 20;  // of addresses: 128 MiB on x86-64, and a page or two

constexpr int kMostBuffers = 128;  // OpenBLAS has room for twice as many as threads it was built for

std::atomic<int> most_callers = 1, buffers = 0;

bool has_room_for_buffer() {
  void* room = ::mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return room != MAP_FAILED && ::munmap(room, kBufferBytes) == 0;
}

void make_buffers() {
  static std::mutex making;
  const std::lock_guard lock(making);
  const int wanted = most_callers.load();
  if (blas_memory_alloc == nullptr || blas_memory_free == nullptr) buffers = wanted;
  if (buffers.load() >= wanted) return;
  std::vector<void*> made;
  made.reserve(static_cast<size_t>(wanted));
  bool has_room = true;
  // Those that are there are handed out first.
  while (std::ssize(made) < wanted && has_room) {
    has_room = std::ssize(made) < buffers.load() || has_room_for_buffer();
    if (has_room) made.push_back(blas_memory_alloc(0));
  }
  buffers = std::max(buffers.load(), static_cast<int>(made.size()));
  for (void* buffer : made) blas_memory_free(buffer);
  if (!has_room) throw std::bad_alloc();
}

CBLAS_TRANSPOSE flag(Transpose transpose) {
  return transpose == Transpose::Yes ? CblasTrans : CblasNoTrans;
}

}  // namespace

void gemm(const Gemm<float>& g) {
  if (g.m == 0 || g.n == 0) return;
  if (buffers.load(std::memory_order_relaxed) < most_callers.load(std::memory_order_relaxed)) make_buffers();
  const float keep = g.output == Output::Accumulate ? 1.0F : 0.0F;
  // BLAS demands strides of at least one even where nothing is read.
  const auto stride = [](int64_t s) { return static_cast<int>(std::max<int64_t>(s, 1)); };
  cblas_sgemm(CblasRowMajor, flag(g.a_transpose), flag(g.b_transpose), static_cast<int>(g.m),
              static_cast<int>(g.n), static_cast<int>(g.k), 1.0F, g.a, stride(g.a_stride), g.b,
              stride(g.b_stride), keep, g.c, stride(g.c_stride));
}

void use_one_thread() {
  openblas_set_num_threads(1);
}

void expect_callers(int threads) {
  const int counted = std::min(threads, kMostBuffers);
  int before = most_callers.load();
  while (before < counted && !most_callers.compare_exchange_weak(before, counted)) {
  }
}

OwnThreads::OwnThreads(int count) {
  openblas_set_num_threads(count);
}

std::string core_name() {
  return openblas_get_corename();
}

bool is_fast_core(std::string_view core) {
  // A library that was built for one kind of CPU has its name in capitals.
  constexpr std::array<const char*, 5> kFast = {"Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids"};
  const std::string name(core);
  return std::ranges::any_of(kFast, [&](const char* fast) { return ::strcasecmp(fast, name.c_str()) == 0; });
}

}  // namespace sluice::blas
