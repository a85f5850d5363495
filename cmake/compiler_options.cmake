# sluice_compiler_options: flags every target of this project is built with. Not exported.
add_library(sluice_compiler_options INTERFACE)

target_compile_options(sluice_compiler_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  # A fused multiply-add that the compiler slips in would make results depend on the optimisation level.
  -ffp-contract=off
  $<$<BOOL:${SLUICE_WERROR}>:-Werror>)

# Kernels, where the time goes, ask for -O3 themselves.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
# Line tables are enough for a stack trace, and a third of the compile time is saved.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")

if(SLUICE_FUZZ)
  # Coverage feedback for the fuzzer; its main function is linked by the targets alone.
  target_compile_options(sluice_compiler_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

if(SLUICE_SANITIZE)
  # Optimising instrumented code takes three times as long as running the tests unoptimised.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O0 -g1")
  # A sanitizer that prints and goes on is a check that cannot fail.
  target_compile_options(sluice_compiler_options INTERFACE
    -fsanitize=${SLUICE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(sluice_compiler_options INTERFACE -fsanitize=${SLUICE_SANITIZE})
endif()
