// The loops of kernels/peak.h without vectors, for CPUs that no other set fits.
#pragma once

#include "sluice/kernels/peak.h"

namespace sluice::reference {

PeakKernels peak();

}  // namespace sluice::reference
