#!/usr/bin/env bash
# Fails on an include that climbs the ladder of tools/ladder.txt: check-ladder.sh [ROOT]
# ladder.txt has a rung per line. A folder may include itself and earlier rungs, never a folder beside it.
# sluice.h, the header for other programs, is above all of them.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"

status=0

mapfile -t sources < <(find src/sluice -type f \( -name '*.h' -o -name '*.cpp' \) | LC_ALL=C sort)
if ((${#sources[@]} == 0)); then
  echo "src/sluice: no sources to check"
  exit 1
fi

awk '
  BEGIN { rung["sluice.h"] = 1e9 }
  function complain(what) { printf "%s:%d: %s\n", FILENAME, FNR, what; bad = 1 }
  FILENAME == "tools/ladder.txt" { for (i = 1; i <= NF; i++) rung[$i] = FNR; next }
  FNR == 1 {
    split(FILENAME, part, "/")
    here = part[3]
    known = here in rung
    if (!known) complain("\"" here "\" is not a folder of tools/ladder.txt")
  }
  match($0, /^[ \t]*#[ \t]*include[ \t]*["<][^">]+/) {
    path = substr($0, RSTART, RLENGTH)
    quoted = path ~ /"/
    sub(/^[^"<]*["<]/, "", path)
    ours = path ~ /^sluice\//
    if (path ~ /(^|\/)\.\.(\/|$)/) { complain("include with \"..\": " path); next }
    if (quoted && !ours) { complain("quoted include that does not begin with \"sluice/\": " path); next }
    if (!ours) next
    split(path, part, "/")
    there = part[2]
    if (!(there in rung)) complain("include of a folder that is not in tools/ladder.txt: " path)
    else if (known && there != here && rung[there] >= rung[here]) complain(here "/ may not include " there "/: " path)
  }
  END { exit bad }
' tools/ladder.txt "${sources[@]}" || status=1

# The drawing is the first table of ARCHITECTURE.md whose rows begin with a folder: | `base/` | ... |
drawn=
if [[ -f ARCHITECTURE.md ]]; then
  drawn=$(awk -F '|' '
    /^\| *`[a-z_]+\/`/ {
      seen = 1
      for (cell = $2; match(cell, /`[a-z_]+\/`/); cell = substr(cell, RSTART + RLENGTH))
        print substr(cell, RSTART + 1, RLENGTH - 3)
      next
    }
    seen { exit }
  ' ARCHITECTURE.md)
fi
if ! difference=$(diff <(tr -s ' ' '\n' <tools/ladder.txt) <(echo "$drawn")); then
  echo "ARCHITECTURE.md: its ladder is not the one of tools/ladder.txt (< ladder.txt, > ARCHITECTURE.md):"
  echo "$difference"
  status=1
fi

exit "$status"
