#!/usr/bin/env bash
# The training step of the 51M reproduction in Sluice and in PyTorch, in turns: compare.sh [--steps N]
# Builds Sluice and installs Debian's python3-torch if they are missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# Debian's own interpreter: another one first in the PATH would not see Debian's packages.
python=/usr/bin/python3

if ! "$python" -c 'import torch' 2>/dev/null; then
  sudo=()
  if ((EUID != 0)); then sudo=(sudo); fi
  "${sudo[@]}" apt-get update -qq >&2
  "${sudo[@]}" apt-get install --yes --no-install-recommends python3-torch >&2
fi
if [[ ! -x build/release/sluice ]]; then scripts/build.sh release >&2; fi

exec "$python" -B bench/pytorch/compare.py build/release/sluice "$@"
