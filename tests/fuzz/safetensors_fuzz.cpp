// libFuzzer target: any bytes as a safetensors file are either bad input or described truthfully.
//   clang++ -fsanitize=fuzzer,address,undefined; seeds: any small safetensors files
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "sluice/base/error.h"
#include "sluice/io/safetensors_header.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  try {
    const sluice::SafetensorsHeader header = sluice::parse_safetensors_header(file, "fuzz");
    // Accepted: then the tensors follow each other without overlap, hole or rest.
    size_t end = header.tensors.empty() ? size : header.tensors.front().offset;
    for (const sluice::SafetensorsEntry& each : header.tensors) {
      if (each.offset != end || !sluice::is_tensor_name(each.name)) std::abort();
      end += each.info.bytes();
    }
    if (end != size) std::abort();
  } catch (const sluice::Error& error) {
    if (error.kind() != sluice::ErrorKind::BadInput) std::abort();
  }
  return 0;
}
