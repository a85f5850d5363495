#!/usr/bin/env bash
# Installs what is needed, builds the release and runs it. Arguments go to the program.
set -euo pipefail
caller=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")"
root=$PWD

scripts/install-deps.sh --runtime
scripts/build.sh release

cd "$caller"
exec "$root/build/release/sluice" demo "$@" # names at its end the report and the command that opens the explorer
