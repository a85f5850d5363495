#!/usr/bin/env bash
# Real English and code for training, out of Debian packages; --help says how. Nothing is installed.
set -euo pipefail
export LC_ALL=C  # the same order and the same bytes everywhere
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
sources=$here/corpus/sources.txt

usage() {
  cat <<'END'
usage: get-corpus.sh [--out DIR] [--bytes N] [--cache DIR] [--from DIR]

Downloads documentation, dictionaries and source code as Debian or Ubuntu packages, unpacks them aside, strips
markup, drops repetitions, and writes DIR/corpus.jsonl ({"text": ..., "source": ...} per line, mixed) and
DIR/report.txt. At most a third is code. Needs no root; the network only for what the cache does not have.

  --out DIR     where the corpus goes (default: corpus)
  --bytes N     how much text, at least (default: 100000000)
  --cache DIR   keeps the packages (default: $XDG_CACHE_HOME/sluice/corpus, or in ~/.cache)
  --from DIR    takes folders DIR/NAME in place of packages; names as in scripts/corpus/sources.txt
END
}

misused() {
  echo "get-corpus.sh: $*; --help explains" >&2
  exit 2
}

fail() {
  echo "get-corpus.sh: $*" >&2
  exit 1
}

out=corpus bytes=100000000 from=
cache=${XDG_CACHE_HOME:-${HOME:-.}/.cache}/sluice/corpus
while (($# > 0)); do
  case $1 in
    --help | -h) usage && exit 0 ;;
    --out | --bytes | --cache | --from)
      if [[ -z ${2:-} ]]; then misused "$1 wants a value"; fi
      printf -v "${1#--}" '%s' "$2"
      shift 2
      ;;
    *) misused "unknown argument: $1" ;;
  esac
done
if ! [[ $bytes =~ ^[1-9][0-9]{0,11}$ ]]; then misused "--bytes: expected a number above 0, got: $bytes"; fi
if [[ -n $from && ! -d $from ]]; then misused "--from: no such directory: $from"; fi

# Everything unfinished is in one folder beside the result, so that a rename finishes it and a trap removes it.
made_out=
if [[ ! -d $out ]]; then
  mkdir -p "$out" || fail "cannot create $out"
  made_out=1
fi
work=$(mktemp -d "$out/.get-corpus.XXXXXX") || fail "cannot write to $out"
partial=
clean_up() {
  rm -rf "$work" ${partial:+"$partial"}
  if [[ -n $made_out ]]; then rmdir --ignore-fail-on-non-empty "$out"; fi
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# cached PATTERN: the newest package in the cache with such a name.
cached() {
  find "$cache" -maxdepth 1 -name '*.deb' -printf '%f\n' 2>/dev/null | grep -E "^($1)_" | sort -V | tail -n 1
}

# download NAME...: into the cache, whole or not at all. What one request for all does not get, each asks for
# again by itself: a mirror may have lost one of them.
download() {
  command -v apt-get >/dev/null || fail "not a Debian or Ubuntu system, and not in the cache: $*"
  partial=$(mktemp -d "$cache/.partial.XXXXXX") || fail "cannot write to $cache"
  echo "Downloading $# packages to $cache"
  if ! (cd "$partial" && apt-get download "$@") >"$work/download.log" 2>&1; then
    for name in "$@"; do
      (cd "$partial" && apt-get download "$name") >>"$work/download.log" 2>&1 || echo "not to be had: $name" >&2
    done
  fi
  find "$partial" -name '*.deb' -exec mv -t "$cache" {} +
  rm -rf "$partial"
}

fetch_missing() {
  local wanted=() name pattern
  while read -r _ _ _ pattern; do
    if [[ -n $(cached "$pattern") ]]; then continue; fi
    # Asked once: each run of apt-cache reads the whole index.
    if [[ ! -e $work/names ]]; then apt-cache pkgnames 2>/dev/null | sort -V >"$work/names" || true; fi
    name=$(grep -Ex "$pattern" "$work/names" | tail -n 1) || continue
    wanted+=("$name")
  done < <(grep -v '^#' "$sources")
  if ((${#wanted[@]} > 0)); then download "${wanted[@]}"; fi
}

unpack() {
  local name pattern package
  command -v dpkg-deb >/dev/null || fail "needs dpkg-deb to unpack"
  while read -r name _ _ pattern; do
    package=$(cached "$pattern") || continue
    mkdir "$work/unpacked/$name"
    dpkg-deb -x "$cache/$package" "$work/unpacked/$name" || fail "damaged, delete it: $cache/$package"
    echo "$name $package" >>"$work/packages"
  done < <(grep -v '^#' "$sources")
}

: >"$work/packages"
if [[ -z $from ]]; then
  mkdir -p "$cache" "$work/unpacked" || fail "cannot create $cache"
  fetch_missing
  unpack
  from=$work/unpacked
fi

echo "Cleaning"
perl "$here/corpus/clean.pl" "$sources" "$from" >"$work/documents" || fail "cleaning failed"

# Code is kept to a third of what comes out, also where there is little prose.
read -r prose code < <(awk -F '\t' '{ n[$2] += $4 } END { print n["prose"] + 0, n["code"] + 0 }' "$work/documents")
limit=$((bytes / 3 < prose / 2 ? bytes / 3 : prose / 2))
code=$((code < limit ? code : limit))
if ((prose + code < bytes)); then
  fail "only $((prose + code)) bytes of text, $bytes wanted (prose $prose, code $code): refresh the package" \
    "lists (apt-get update), or ask for less with --bytes"
fi

# Sorted by their drawn order, so that any beginning of the corpus is a fair sample of it.
sort -T "$work" "$work/documents" | awk -F '\t' -v code="$code" -v prose="$((bytes - code))" -v to="$work" '
  BEGIN { room["code"] = code; room["prose"] = prose }
  room[$2] > 0 {
    room[$2] -= $4
    documents[$2 " " $3]++
    size[$2 " " $3] += $4
    print substr($0, length($1 $2 $3 $4) + 5) >(to "/corpus.jsonl")
  }
  END { for (key in size) print key, documents[key], size[key] >(to "/sizes") }
'

{
  echo "class source documents MB package"
  sort "$work/sizes" | while read -r class name documents size; do
    package=$(awk -v name="$name" '$1 == name { print $2 }' "$work/packages")
    awk -v size="$size" -v row="$class $name $documents" -v package="${package:--}" \
      'BEGIN { printf "%s %.2f %s\n", row, size / 1e6, package }'
  done
  awk '{ d += $3; n += $4 } END { printf "total - %d %.2f -\n", d, n / 1e6 }' "$work/sizes"
} | awk '{ printf "%-6s %-14s %9s %8s  %s\n", $1, $2, $3, $4, $5 }' >"$work/report.txt"

cat "$work/report.txt"
mv "$work/report.txt" "$out/report.txt"
mv "$work/corpus.jsonl" "$out/corpus.jsonl"
