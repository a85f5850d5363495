#!/usr/bin/env bash
# Fails on a path named in the documents that does not exist: check-docs.sh [ROOT]
# Looks at `code` and [links](…) in *.md at the root and under docs/. History may name what is gone.
# Fails, too, on a fenced block below a line <!-- verbatim: FILE --> that is not the file, and on a program of examples/
# that no document shows so.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "${1:-$here/..}"

# Prints LINE<tab>CANDIDATE. Code with spaces is a command: its first word is the program, the rest may be
# files of the reader's. Fenced blocks are examples.
candidates() {
  awk '
    /^[ \t]*(```|~~~)/ { fenced = !fenced; next }
    fenced { next }
    {
      for (rest = $0; match(rest, /`[^`]+`/); rest = substr(rest, RSTART + RLENGTH)) {
        code = substr(rest, RSTART + 1, RLENGTH - 2)
        sub(/^ +/, "", code)
        sub(/ .*/, "", code)
        if (code ~ /\// || code ~ /\.(md|sh|cpp|h|txt|json|cmake)$/) print FNR "\t" code
      }
      # Code is taken out first: an index and a call in it look like a link.
      rest = $0
      gsub(/`[^`]*`/, "x", rest)
      for (; match(rest, /\]\([^)]+\)/); rest = substr(rest, RSTART + RLENGTH)) {
        link = substr(rest, RSTART + 2, RLENGTH - 3)
        sub(/[ \t].*/, "", link)
        sub(/#.*/, "", link)
        if (link != "") print FNR "\t" link
      }
    }
  ' "$1"
}

is_no_path() {
  case "$1" in
    *://* | mailto:* | /* | '~'* | -*) return 0 ;;           # addresses, other machines' paths, options
    *[\*\<\>\{\}\$\(\)\[\]\|=,\"\']* | *…* | *...*) return 0 ;; # patterns, placeholders, expressions
    config.json | tokenizer.json | model.safetensors.index.json) return 0 ;; # of a model directory
    generation_config.json | tokenizer_config.json | special_tokens_map.json) return 0 ;; # likewise
    state.json | held-out.json | result.json) return 0 ;;                    # of a run or a sweep
    report.md | report.json) return 0 ;;                                     # of a report
    ../shared | ../shared/* | build/* | ./build/* | out/* | ./out/*) return 0 ;;
  esac
  [[ $1 =~ ^[0-9./]+$ ]]
}

# A rung of the ladder may be named before its folder has content.
is_rung() {
  local name=${1#src/sluice/}
  [[ -f tools/ladder.txt && $name == */ ]] && tr ' ' '\n' <tools/ladder.txt | grep -qx "${name%/}"
}

exists() {
  local path=$1 document=$2 base
  for base in . "$(dirname "$document")" src/sluice src; do
    if [[ -e $base/$path ]]; then return 0; fi
  done
  is_rung "$path"
}

# Prints LINE<tab>FILE for every block that claims to be a file.
verbatim_blocks() {
  sed -nE 's/^<!-- verbatim: ([^ ]+) -->$/\1/; T; =; p' "$1" | paste - -
}

# block DOCUMENT LINE: the fenced block that begins right below the line.
block() {
  awk -v at="$2" 'NR == at + 1 && !/^```/ { exit } NR > at + 1 && /^```$/ { exit } NR > at + 1' "$1"
}

# check_block DOCUMENT LINE FILE
check_block() {
  if [[ ! -f $3 ]]; then
    echo "$1:$2: no such file: $3"
    return 1
  fi
  if diff <(block "$1" "$2") "$3"; then return 0; fi
  echo "$1:$2: the block is not $3 (< the document, > the file)"
  return 1
}

status=0 documents=0 shown=
while read -r document; do
  documents=$((documents + 1))
  while IFS=$'\t' read -r line file; do
    shown+=$file$'\n'
    check_block "$document" "$line" "$file" || status=1
  done < <(verbatim_blocks "$document")
  while IFS=$'\t' read -r line path; do
    path=${path%%:[0-9]*}
    if is_no_path "$path" || exists "$path" "$document"; then continue; fi
    echo "$document:$line: no such path: $path"
    status=1
  done < <(candidates "$document")
done < <(find . -maxdepth 1 -name '*.md' ! -name CHANGELOG.md -printf '%P\n'
  if [[ -d docs ]]; then find docs -name '*.md' ! -path docs/log.md; fi)

if [[ -d examples ]]; then
  while read -r program; do
    if grep -qxF "$program" <<<"$shown"; then continue; fi
    echo "$program: no document shows it (<!-- verbatim: $program -->)"
    status=1
  done < <(find examples -type f | LC_ALL=C sort)
fi

if ((documents == 0)); then
  echo "no documents to check"
  exit 1
fi
exit "$status"
