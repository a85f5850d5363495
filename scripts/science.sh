#!/usr/bin/env bash
# The long trainings of experiments/, one after another on one thread that gives way to everything else.
#   science.sh run       trains what is missing, in the order of experiments/queue.txt; in the foreground. A second
#                        one beside it takes the next experiment that nobody trains
#   science.sh status    what is done
#   science.sh pause     stops them for as long as something is being timed
#   science.sh resume    lets them go on
#   science.sh pages     measures the runs that have ended, notes them in experiments/ledger, writes the pages in
#                        docs/results from it
# Texts and runs lie in $SLUICE_SCIENCE (default: ../science beside the repository): runs take days, and what the ledger
# knows is not trained again. The program is copied there at the first run, so that one build makes all of an experiment;
# remove the copy for a new one. Pages are made by build/release, or by the program that $SLUICE names.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

home=${SLUICE_SCIENCE:-$PWD/../science}
program=$home/sluice
ledger=experiments/ledger # what is known of runs, also of those that lie on no disk any more
measuring=${SLUICE:-build/release/sluice}

# NAME and up to how many seeds, as they stand in the queue.
steps() { grep -vE '^[[:space:]]*(#|$)' experiments/queue.txt; }
experiments() { steps | awk '!seen[$1]++ { print $1 }'; }

# The experiment whose runs it is about: itself, unless it names another one.
runs_of() {
  local other
  other=$(sed -n 's/^ *"runs": "\(.*\)",$/\1/p' "experiments/$1.json")
  echo "${other:-$1}"
}

pin_program() (
  exec 9>"$home/program.lock"
  flock 9 # another queue may be at it
  if [[ -x $program ]]; then return; fi
  scripts/build.sh release
  cp build/release/sluice "$program.new"
  git describe --always --dirty >"$home/build.txt"
  mv "$program.new" "$program"
)

run_queue() {
  local name seeds queue trained_by
  mkdir -p "$home/queues"
  # Held as long as the script or a training below it lives.
  exec {queue}>"$home/queue.$$"
  flock "$queue"
  mv "$home/queue.$$" "$home/queues/$$"
  pin_program
  while read -r name seeds; do
    exec {trained_by}>"$home/$(runs_of "$name").lock"
    if flock --nonblock "$trained_by"; then train "$name" ${seeds:+--seeds "$seeds"}; fi
    exec {trained_by}>&-
  done < <(steps)
}

# One that cannot run must not keep the others waiting.
train() { # NAME OPTION...
  echo "$(date -u +%H:%M) $1"
  { scripts/corpus/for-experiment.sh "experiments/$1.json" "$home" &&
    "$program" experiment "experiments/$1.json" "${@:2}" --home "$home" --ledger "$ledger" --threads 1 --quiet; } </dev/null >"$home/$1.log" 2>&1 ||
    echo "$1: $(tail -n 1 "$home/$1.log")" >&2
}

show_status() {
  while read -r name; do
    local known here
    known=$({ cat "$ledger/$name.jsonl" 2>/dev/null || true; } | wc -l)
    here=$({ find "$home/$(runs_of "$name")" -mindepth 3 -maxdepth 3 -name best 2>/dev/null || true; } | wc -l)
    printf '%-20s %3s runs in the ledger, %3s have validated here\n' "$name" "$known" "$here"
  done < <(experiments)
}

signal_queues() { # SIGNAL: to the scripts and the trainings below them
  local queue reached=0
  for queue in "$home"/queues/*; do
    if [[ ! -e $queue ]]; then continue; fi
    if flock --nonblock "$queue" rm "$queue"; then continue; fi
    if kill "-$1" -- "-$(basename "$queue")"; then reached=$((reached + 1)); fi
  done
  echo "science.sh: $reached queues" >&2
}

write_pages() {
  [[ -x $measuring ]] || { echo "science.sh: $measuring is missing: scripts/build.sh release" >&2; exit 1; }
  while read -r name; do
    [[ -e $ledger/$name.jsonl || -d $home/$(runs_of "$name") ]] || continue # nothing has ended
    "$measuring" experiment "experiments/$name.json" --home "$home" --ledger "$ledger" --ended --page docs/results --quiet >/dev/null
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
  pause) signal_queues STOP ;;
  resume) signal_queues CONT ;;
  pages) write_pages ;;
  *)
    sed -n '2,14s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
