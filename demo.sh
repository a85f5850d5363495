#!/usr/bin/env bash
# Installs what is needed, builds the release and runs it. Arguments go to the program.
set -euo pipefail
caller=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")"
root=$PWD

scripts/install-deps.sh --runtime
scripts/build.sh release

cd "$caller"
"$root/build/release/sluice" demo "$@"
echo "Look into the models in a browser: $root/build/release/sluice explore" >&2
