#!/usr/bin/env bash
# Trains and measures one experiment of docs/results anew and writes its page: reproduce.sh NAME [DIR]. What is in DIR
# (default: ../science beside the repository) already is taken as it is; what experiments/ledger knows is not: that is what
# is reproduced. Without a name: which there are.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (($# == 0)); then
  find experiments -name '*.json' -printf '%f\n' | sed 's/\.json$//' | sort
  exit 0
fi
file=experiments/$1.json
[[ -e $file ]] || { echo "reproduce.sh: no such experiment: $1; without a name it lists them" >&2; exit 2; }
[[ -x build/release/sluice ]] || { scripts/install-deps.sh && scripts/build.sh release; }
scripts/corpus/for-experiment.sh "$file" "${2:-../science}"
exec build/release/sluice experiment "$file" --home "${2:-../science}" --page docs/results
