#!/usr/bin/env bash
# A gate's position is a row of nn/gate_position.h and the layer that applies it, an activation an entry of
# kernels/activation.h: fails if the sources name one anywhere else. That is what a new one would need, too.
# g1 and the plain activations are defaults and so named more often; the others must not be.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"

status=0

# expect_only_in PATTERN FILE...
expect_only_in() {
  local pattern=$1 found expected
  shift
  found=$(grep -rlE "$pattern" src/sluice --include='*.h' --include='*.cpp' | LC_ALL=C sort || true)
  expected=$(printf 'src/sluice/%s\n' "$@" | LC_ALL=C sort)
  if [[ $found != "$expected" ]]; then
    echo "$pattern is named in other places than its own:"
    diff <(echo "$expected") <(echo "$found") || true
    status=1
  fi
}

for position in 2 3 4 5; do
  expect_only_in "GatePosition::G$position\\b" nn/gate_position.h nn/attention.cpp
  expect_only_in "\"[^\"]*\\b(gate_)?g$position(_proj)?\\b[^\"]*\"" nn/gate_position.h
done
for activation in NsSigmoid TwoSigmoid Tanh; do
  expect_only_in "Activation::$activation\\b" kernels/activation.h
done
for name in ns_sigmoid two_sigmoid softplus; do
  expect_only_in "\"$name\"" kernels/activation.h
done

exit "$status"
