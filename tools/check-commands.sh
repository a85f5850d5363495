#!/usr/bin/env bash
# Fails if docs/commands.md is not what the program prints: SLUICE=PROGRAM check-commands.sh [ROOT]
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"

if ! difference=$(diff docs/commands.md <("${SLUICE:?the program to ask}" help --markdown)); then
  echo "docs/commands.md is not what the program prints (< docs/commands.md, > program):"
  echo "$difference"
  echo "write it anew: $SLUICE help --markdown > docs/commands.md"
  exit 1
fi
