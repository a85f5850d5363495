#!/usr/bin/env bash
# for-experiment.sh FILE HOME: gets the corpus that an experiment names, if it names one and HOME does not have it.
set -euo pipefail
bytes=20000000 # of every experiment with real text: other lengths are other texts

file=$1 home=$2
if ! grep -q '"corpus/corpus.jsonl"' "$file"; then exit 0; fi
mkdir -p "$home"
exec 9>"$home/corpus.lock"
flock 9 # it takes minutes: whoever comes meanwhile waits for it
if [[ -e $home/corpus/corpus.jsonl ]]; then exit 0; fi
exec "$(dirname "${BASH_SOURCE[0]}")/../get-corpus.sh" --out "$home/corpus" --bytes "$bytes"
