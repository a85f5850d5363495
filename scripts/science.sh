#!/usr/bin/env bash
# The long trainings of experiments/, one after another on one thread that gives way to everything else.
#   science.sh run       trains what is missing, in the order of experiments/queue.txt; in the foreground. A second
#                        one beside it takes the next experiment that nobody trains
#   science.sh status    what is done
#   science.sh pause     stops them for as long as something is being timed
#   science.sh resume    lets them go on
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

# What two queues would otherwise make at the same time. A corpus takes minutes, which nobody else waits for.
one_at_a_time() { # WHAT COMMAND...
  (
    flock 9
    "${@:2}"
  ) 9>"$home/$1.lock"
}

pin_program() {
  if [[ -x $program ]]; then return; fi
  scripts/build.sh release
  cp build/release/sluice "$program.new"
  git describe --always --dirty >"$home/build.txt"
  mv "$program.new" "$program"
}

run_queue() {
  local name queue trained_by
  mkdir -p "$home/queues"
  # Held as long as the script or a training below it lives.
  exec {queue}>"$home/queue.$$"
  flock "$queue"
  mv "$home/queue.$$" "$home/queues/$$"
  one_at_a_time program pin_program
  while read -r name; do
    if [[ -n $(runs_of "$name") ]]; then continue; fi
    exec {trained_by}>"$home/$name.lock"
    if flock --nonblock "$trained_by"; then train "$name"; fi
    exec {trained_by}>&-
  done < <(experiments)
}

# One that cannot run must not keep the others waiting.
train() { # NAME
  echo "$(date -u +%H:%M) $1"
  { one_at_a_time corpus scripts/corpus/for-experiment.sh "experiments/$1.json" "$home" &&
    "$program" experiment "experiments/$1.json" --home "$home" --threads 1 --quiet; } </dev/null >"$home/$1.log" 2>&1 ||
    echo "$1: $(tail -n 1 "$home/$1.log")" >&2
}

show_status() {
  while read -r name; do
    local ended
    if [[ -n $(runs_of "$name") ]]; then continue; fi
    ended=$(find "$home/$name" -mindepth 3 -maxdepth 3 -name best 2>/dev/null | wc -l)
    printf '%-20s %s runs have validated\n' "$name" "$ended"
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
  pause) signal_queues STOP ;;
  resume) signal_queues CONT ;;
  pages) write_pages ;;
  *)
    sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
