#!/usr/bin/env bash
# The long trainings of experiments/, one after another on one thread that gives way to everything else.
#   science.sh run       trains what is missing, in the order of experiments/queue.txt; in the foreground. A second
#                        one beside it takes the next experiment that nobody trains. Ctrl-C ends it; one that fails does not
#   science.sh status    whether queues run, and what is done
#   science.sh pause     stops them for as long as something is being timed
#   science.sh resume    lets them go on
#   science.sh pages     measures the runs that have ended, notes them in experiments/ledger, writes the pages in
#                        docs/results from it
# Texts and runs lie in $SLUICE_SCIENCE (default: ../science beside the repository): runs take days, and what the ledger
# knows is not trained again. The program is copied there at the first run, so that one build makes all of an experiment;
# remove the copy for a new one. Pages are made by build/release, or by the program that $SLUICE names.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/experiment-runs.sh
source scripts/experiment-runs.sh

home=${SLUICE_SCIENCE:-../science} # pages name it, so it is not made absolute
program=$home/sluice
ledger=experiments/ledger # what is known of runs, also of those that lie on no disk any more
measuring=${SLUICE:-build/release/sluice}
failed=() # names of experiments

# NAME and up to how many seeds, as they stand in the queue.
steps() { grep -vE '^[[:space:]]*(#|$)' experiments/queue.txt; }
experiments() { steps | awk '!seen[$1]++ { print $1 }'; }

# note_end NAME STATUS: one that fails or crashes must not keep the others waiting; one that was told to end (SIGHUP,
# SIGINT, SIGTERM) ends all.
note_end() {
  case $2 in
    0) ;;
    129 | 130 | 143) exit "$2" ;;
    *) failed+=("$1") ;;
  esac
}

exit_by_failures() {
  if ((${#failed[@]} == 0)); then exit 0; fi
  echo "science.sh: failed: $(printf '%s\n' "${failed[@]}" | sort -u | paste -sd ' ')" >&2
  exit 1
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
  local name seeds queue status held=75
  mkdir -p "$home/queues"
  # Held as long as the script or a training below it lives.
  exec {queue}>"$home/queue.$$"
  flock "$queue"
  mv "$home/queue.$$" "$home/queues/$$"
  pin_program
  while read -r name seeds; do
    status=0
    hold_runs "$home" "$name" --nonblock --conflict-exit-code "$held" || status=$?
    case $status in
      0) train "$name" ${seeds:+--seeds "$seeds"} ;;
      "$held") echo "$name: left out, somebody else trains $(runs_of "$name")" >&2 ;;
      *) note_end "$name" "$status" ;;
    esac
    release_runs
  done < <(steps)
  exit_by_failures
}

train() { # NAME OPTION...
  local status=0
  date -u "+%H:%M $1" | tee -a "$home/$1.log"
  { scripts/corpus/for-experiment.sh "experiments/$1.json" "$home" &&
    "$program" experiment "experiments/$1.json" "${@:2}" --home "$home" --ledger "$ledger" --threads 1 --quiet; } </dev/null >>"$home/$1.log" 2>&1 ||
    status=$?
  if ((status != 0)); then echo "$1: $(tail -n 1 "$home/$1.log")" >&2; fi
  note_end "$1" "$status"
}

# What the ledger knows of an experiment. What is in no ledger yet is left out: it would be measured first.
known_of() { # NAME
  if [[ ! -x $measuring ]]; then return; fi
  "$measuring" experiment "experiments/$1.json" --home "$home/none" --ledger "$ledger" --ended --json --quiet </dev/null || true
}

# process_field PID NUMBER: of /proc/PID/stat; 3: the state, 5: the process group. A small system has no ps.
process_field() { cut -d ' ' -f "$2" "/proc/$1/stat"; }

# number_in KEY: of the JSON that comes in; a question mark if it has none.
number_in() { sed -n "s/^ *\"$1\": \([0-9]*\),\{0,1\}$/\1/p" | grep . || echo "?"; }

show_status() {
  local name queue state result planned looked
  for queue in "$home"/queues/*; do
    if [[ ! -e $queue ]] || flock --nonblock "$queue" true; then continue; fi
    state=$(process_field "$(basename "$queue")" 3 || true)
    if [[ $state == T ]]; then echo "a queue pauses"; else echo "a queue runs"; fi
  done
  while read -r name; do
    local known here
    known=$({ cat "$ledger/$name.jsonl" 2>/dev/null || true; } | wc -l)
    here=$({ find "$home/$(runs_of "$name")" -mindepth 3 -maxdepth 3 -name best 2>/dev/null || true; } | wc -l)
    result=$(known_of "$name") # what is wrong with a ledger is said
    planned=$(number_in planned_runs <<<"$result")
    if grep -q '"pairs_looked_at": null' <<<"$result"; then
      looked="no looks are planned"
    else
      looked=$(printf 'looked at with %2s pairs' "$(number_in pairs_looked_at <<<"$result")")
    fi
    printf '%-21s %3s of %3s runs in the ledger, %s; %3s have validated here\n' \
      "$name" "$known" "$planned" "$looked" "$here"
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
  local name status
  [[ -x $measuring ]] || { echo "science.sh: $measuring is missing: scripts/build.sh release" >&2; exit 1; }
  while read -r name; do
    [[ -e $ledger/$name.jsonl || -d $home/$(runs_of "$name") ]] || continue # nothing has ended
    status=0
    "$measuring" experiment "experiments/$name.json" --home "$home" --ledger "$ledger" --ended --page docs/results --quiet </dev/null >/dev/null || status=$?
    note_end "$name" "$status"
  done < <(experiments)
  exit_by_failures
}

case ${1:-} in
  run)
    # In a process group of its own, so that pause and resume reach the training, too.
    [[ $(process_field $$ 5) == "$$" ]] || exec setsid --wait scripts/science.sh run
    renice -n 19 $$ >/dev/null
    # Where the kernel shares time between sessions first, a nice value counts inside of its own alone.
    if [[ -w /proc/self/autogroup ]]; then echo 19 >/proc/self/autogroup; fi
    # A training that is interrupted ends in order, and bash would go on.
    trap 'exit 130' INT
    run_queue
    ;;
  status) show_status ;;
  pause) signal_queues STOP ;;
  resume) signal_queues CONT ;;
  pages) write_pages ;;
  *)
    sed -n '2,12s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
