#!/usr/bin/env bash
# The ladder check passes on an orderly tree and names each kind of offence: check_ladder_test.sh SOURCE_DIR
# shellcheck disable=SC2016  # the backticks are those of ARCHITECTURE.md
# shellcheck source=tests/checks/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
check=$1/tools/check-ladder.sh
lower=src/sluice/base/lower.h

fresh_tree() {
  rm -rf "${work:?}"/*
  mkdir -p "$work"/tools "$work"/src/sluice/{base,tensor,plot,report}
  printf 'base\ntensor\nplot report\n' >"$work/tools/ladder.txt"
  cat >"$work/ARCHITECTURE.md" <<'END'
| folder | holds |
|---|---|
| `base/` | x |
| `tensor/` | not `cli/` |
| `plot/` `report/` | y |

| `tests/` | another table |
END
  printf '#include <vector>\n' >"$work/$lower"
  printf '#include "sluice/base/lower.h"\n#include "sluice/tensor/upper.h"\n' >"$work/src/sluice/tensor/upper.cpp"
}

# offence WHAT FILE LINE_OF_CODE TEXT
offence() {
  fresh_tree
  mkdir -p "$(dirname "$work/$2")"
  printf '\n%s\n' "$3" >"$work/$2"
  expect_fail "$1" "$4" "$check" "$work"
}

fresh_tree
expect_pass "an orderly tree" "$check" "$work"
expect_output "an orderly tree is passed in silence" ""
printf '#include "sluice/plot/a.h"\n#include "sluice/report/b.h"\n' >"$work/src/sluice/sluice.h"
expect_pass "a header with everything for other programs" "$check" "$work"

offence "an upward include" $lower '#include "sluice/tensor/upper.h"' "$lower:2: base/ may not include tensor/"
offence "an upward include in brackets" $lower '#  include <sluice/tensor/upper.h>' "$lower:2: base/ may not include"
offence "an include beside" src/sluice/plot/a.h '#include "sluice/report/b.h"' "src/sluice/plot/a.h:2: plot/ may not"
offence "an unknown folder" src/sluice/utils/a.h '' 'src/sluice/utils/a.h:1: "utils" is not a folder'
offence "the header for other programs" $lower '#include "sluice/sluice.h"' "$lower:2: base/ may not include sluice.h"
offence "a file in no folder" src/sluice/a.h '' 'src/sluice/a.h:1: "a.h" is not a folder'
offence "an include of an unknown folder" $lower '#include "sluice/utils/a.h"' "$lower:2: include of a folder"
offence "dots" $lower '#include "sluice/base/../tensor/upper.h"' "$lower:2: include with \"..\""
offence "a neighbour by bare name" $lower '#include "upper.h"' "$lower:2: quoted include"

fresh_tree
printf '| `tensor/` | x |\n| `base/` | y |\n| `plot/` `report/` | y |\n' >"$work/ARCHITECTURE.md"
expect_fail "a drawing in another order" "ARCHITECTURE.md: its ladder is not" "$check" "$work"
rm "$work/ARCHITECTURE.md"
expect_fail "no drawing" "ARCHITECTURE.md: its ladder is not" "$check" "$work"

fresh_tree
rm -r "$work"/src/sluice/*
expect_fail "nothing to check" "no sources" "$check" "$work"
