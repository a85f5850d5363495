#!/usr/bin/env bash
# Fails if a C++ source is not formatted; tools/format.sh mends it.
exec "$(dirname "${BASH_SOURCE[0]}")/format.sh" --check
