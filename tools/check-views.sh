#!/usr/bin/env bash
# clang 14 cannot read the views of g++ 12's library, nor what std::ranges algorithms return as one (a subrange), and both
# have to build this: fails where the sources use one. Spans, iterators and the other algorithms of std::ranges do.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"

returns_subrange='ranges::(unique|remove|remove_if|(stable_)?partition|rotate|search|search_n|find_end|equal_range)'
if found=$(grep -rnE "\bviews::|\b$returns_subrange\(" src tests bench examples --include='*.h' --include='*.cpp'); then
  echo "views, which clang 14 cannot read:"
  echo "$found"
  exit 1
fi
