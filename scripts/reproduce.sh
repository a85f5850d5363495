#!/usr/bin/env bash
# Trains and measures one experiment of docs/results anew and writes its page to DIR/pages, to be held against the one in
# docs/results: reproduce.sh NAME [--seeds N] [DIR], with the first N of its seeds (default: all that are planned).
# What is in DIR (default: ../science beside the repository)
# already is taken as it is; what experiments/ledger knows is not: that is what is reproduced. An experiment that takes its
# rate from another one has that trained, and its page written, first. Without a program it builds one, and installs what
# that needs. Without a name: which there are.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/experiment-runs.sh
source scripts/experiment-runs.sh

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  sed -n '2,7s/^# //p' "$0"
  exit 0
fi
if (($# == 0)); then
  find experiments -name '*.json' -printf '%f\n' | sed 's/\.json$//' | sort
  exit 0
fi
name=$1 file=experiments/$1.json seeds=()
shift
[[ -e $file ]] || { echo "reproduce.sh: no such experiment: $name; without a name it lists them" >&2; exit 2; }
if [[ ${1:-} == --seeds ]]; then
  [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || { echo "reproduce.sh: --seeds: expected a number above 0, got: ${2:-nothing}" >&2; exit 2; }
  seeds=(--seeds "$2")
  shift 2
fi
home=${1:-../science}
if (($# > 1)) || [[ $home == -* ]]; then
  echo "reproduce.sh: usage: reproduce.sh NAME [--seeds N] [DIR]" >&2
  exit 2
fi
tuned_by=$(text_in "$file" tuned_by) # whose rate it takes
if [[ -n $tuned_by ]]; then scripts/reproduce.sh "$tuned_by" "$home"; fi
[[ -x build/release/sluice ]] || { scripts/install-deps.sh && scripts/build.sh release; }
scripts/corpus/for-experiment.sh "$file" "$home"
mkdir -p "$home"
if ! hold_runs "$home" "$name" --nonblock; then
  echo "reproduce.sh: somebody else trains $(runs_of "$name") in $home; waiting until they are through" >&2
  hold_runs "$home" "$name"
fi
build/release/sluice experiment "$file" "${seeds[@]}" --home "$home" --page "$home/pages"
echo "reproduce.sh: hold $home/pages/$name.md against docs/results/$name.md" >&2
