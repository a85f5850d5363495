#!/usr/bin/env bash
# Breaks the nursery's stored pair (tests/golden/nursery) on documents that no run saw and writes what comes out to
# docs/results/ablation-pair: ablate-pair.sh [PROGRAM]. Half a minute.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=${1:-build/release/sluice}
[[ -x $program ]] || { echo "ablate-pair.sh: $program is missing: scripts/build.sh release" >&2; exit 1; }
program=$(realpath "$program")

trained=40000 unseen=100 # documents; each is drawn by its number, so those behind the trained ones are new
pair=tests/golden/nursery
out=docs/results/ablation-pair
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$PWD/$pair/baseline" "$PWD/$pair/headwise" "$work"
cd "$work"
"$program" data synth --kind backcopy --seed 1 --documents $((trained + unseen)) --out all.jsonl --quiet
tail -n "$unseen" all.jsonl >unseen.jsonl
# A chunk is a document with its end.
"$program" ablate headwise baseline --data unseen.jsonl --chunk 128 --chunks "$unseen" --plan global,constants,layers,heads \
  --actions open,closed,mean --sample 0 --out broken --quiet >/dev/null
cd - >/dev/null
rm -rf "$out"
mkdir -p "$out"
cp "$work"/broken/*.csv "$work"/broken/*.svg "$out"
cp "$work"/broken/report.md "$out/README.md"
echo "$out/README.md"
