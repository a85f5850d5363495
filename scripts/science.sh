#!/usr/bin/env bash
# The long trainings of experiments/, one after another on one thread that gives way to everything else.
#   science.sh run       trains what is missing, in the order of experiments/queue.txt; in the foreground
#   science.sh status    what is done
#   science.sh pause     stops it for as long as something is being timed
#   science.sh resume    lets it go on
#   science.sh pages     writes the pages in docs/results from the runs that have ended
# Texts and runs lie in $SLUICE_SCIENCE (default: ../science beside the repository): runs take days. The program is
# copied there at the first run, so that one build makes all of an experiment; remove the copy for a new one. Pages
# are made by build/release, or by the program that $SLUICE names.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

home=${SLUICE_SCIENCE:-$PWD/../science}
program=$home/sluice
measuring=${SLUICE:-build/release/sluice}

experiments() { grep -vE '^[[:space:]]*(#|$)' experiments/queue.txt; }

# The experiment whose runs it is about, if that is another one: then there is nothing to train.
runs_of() { sed -n 's/^ *"runs": "\(.*\)",$/\1/p' "experiments/$1.json"; }

pin_program() {
  [[ -x $program ]] && return
  scripts/build.sh release
  cp build/release/sluice "$program.new"
  git describe --always --dirty >"$home/build.txt"
  mv "$program.new" "$program"
}

run_queue() {
  mkdir -p "$home"
  exec 9>"$home/lock"
  flock --nonblock 9 || { echo "science.sh: it runs already" >&2; exit 1; }
  echo $$ >"$home/pid"
  pin_program
  while read -r name; do
    if [[ -n $(runs_of "$name") ]]; then continue; fi
    echo "$(date -u +%H:%M) $name"
    # One that cannot run must not keep the others waiting.
    { scripts/corpus/for-experiment.sh "experiments/$name.json" "$home" &&
      "$program" experiment "experiments/$name.json" --home "$home" --threads 1 --quiet; } </dev/null >"$home/$name.log" 2>&1 ||
      echo "$name: $(tail -n 1 "$home/$name.log")" >&2
  done < <(experiments)
}

show_status() {
  while read -r name; do
    local ended
    if [[ -n $(runs_of "$name") ]]; then continue; fi
    ended=$(find "$home/$name" -mindepth 3 -maxdepth 3 -name best 2>/dev/null | wc -l)
    printf '%-20s %s runs have validated\n' "$name" "$ended"
  done < <(experiments)
}

signal_queue() { # SIGNAL: to the script and the training below it
  local pid
  pid=$(cat "$home/pid" 2>/dev/null) && kill "-$1" -- "-$pid" 2>/dev/null || echo "science.sh: it does not run" >&2
}

write_pages() {
  [[ -x $measuring ]] || { echo "science.sh: $measuring is missing: scripts/build.sh release" >&2; exit 1; }
  while read -r name; do
    local runs
    runs=$(runs_of "$name")
    [[ -d $home/${runs:-$name} ]] || continue
    "$measuring" experiment "experiments/$name.json" --home "$home" --ended --page docs/results --quiet >/dev/null
  done < <(experiments)
}

case ${1:-} in
  run)
    # In a process group of its own, so that pause and resume reach the training, too.
    [[ $(ps -o pgid= -p $$ | tr -d ' ') == "$$" ]] || exec setsid --wait "$0" run
    renice -n 19 $$ >/dev/null
    # Where the kernel shares time between sessions first, a nice value counts inside of its own alone.
    if [[ -w /proc/self/autogroup ]]; then echo 19 >/proc/self/autogroup; fi
    run_queue
    ;;
  status) show_status ;;
  pause) signal_queue STOP ;;
  resume) signal_queue CONT ;;
  pages) write_pages ;;
  *)
    sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
