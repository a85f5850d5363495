// Whether AMX tiles work here, found out by using them: a hypervisor may report what it does not carry.
#pragma once

namespace sluice {

// Multiplies two small bf16 matrices with the tile unit in a child process, so that an illegal instruction
// ends the child only. The tile state must have been granted to this process (see detect_cpu).
bool tiles_multiply_correctly();

}  // namespace sluice
