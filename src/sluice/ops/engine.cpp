#include "sluice/ops/engine.h"

#include "sluice/kernels/blas/gemm.h"

namespace sluice {

Engine::Engine(const EngineOptions& options)
    : cpu_(detect_cpu()),
      isa_(choose_isa(cpu_, options.isa.name.empty() ? isa_request_from_environment() : options.isa)),
      threads_(options.threads),
      f32_(f32_kernels(isa_.isa)),
      f64_(f64_kernels()) {
  blas::use_one_thread();
  blas::expect_callers(threads_.count());
}

}  // namespace sluice
