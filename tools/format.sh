#!/usr/bin/env bash
# Formats the C++ sources in place; with --check only reports, and exits 77 (skipped) without clang-format 14.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Versions of clang-format disagree about the same .clang-format, so one is chosen.
formatter=
for candidate in clang-format-14 clang-format; do
  if "$candidate" --version 2>/dev/null | grep -q 'version 14\.'; then
    formatter=$candidate
    break
  fi
done
if [[ -z $formatter ]]; then
  echo "clang-format 14 is not installed: format not checked"
  exit 77
fi

folders=()
for folder in src tests bench examples; do
  if [[ -d $folder ]]; then folders+=("$folder"); fi
done
mapfile -t sources < <(find "${folders[@]}" -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.c' \) | LC_ALL=C sort)

if [[ ${1:-} != --check ]]; then
  "$formatter" -i "${sources[@]}"
elif ! report=$("$formatter" --dry-run -Werror "${sources[@]}" 2>&1); then
  grep 'error:' <<<"$report" || echo "$report"
  echo "tools/format.sh mends it"
  exit 1
fi
