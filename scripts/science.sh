#!/usr/bin/env bash
# The long trainings of experiments/queue.txt, one after another on one thread that gives way to everything else.
#   science.sh run       starts what is missing and goes on with what was stopped; in the foreground
#   science.sh status    what is done
#   science.sh pause     stops it for as long as something is being timed
#   science.sh resume    lets it go on
#   science.sh collect   writes docs/results/nursery.csv from the nursery's runs that have ended; needs jq, and build/release
#                        or the program that $SLUICE names
# Everything lies in $SLUICE_SCIENCE (default: ../science beside the repository), outside of it: runs take days.
# The program is copied there at the first run, so that one build makes all of an experiment; remove the copy for a new one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

home=${SLUICE_SCIENCE:-$PWD/../science}
program=$home/sluice
measuring=${SLUICE:-build/release/sluice}  # the pinned one may be older than the commands that measure
queue=experiments/queue.txt

jobs_of_queue() { grep -vE '^[[:space:]]*(#|$)' "$queue"; }

pin_program() {
  [[ -x $program ]] && return
  scripts/build.sh release
  cp build/release/sluice "$program.new"
  git describe --always --dirty >"$home/build.txt"
  mv "$program.new" "$program"
}

# Token shards and the tokenizer of a text, made once: the same for every run.
make_text() {
  local text=$home/$1.tokens
  [[ -e $text ]] && return
  case $1 in
    backcopy)
      "$program" data synth --kind backcopy --documents 40000 --seed 1 --out "$home/$1.jsonl" --quiet
      "$program" data tokenize bytes "$home/$1.jsonl" --out "$text" --quiet
      ;;
    synth)
      "$program" data synth --bytes 20000000 --seed 1 --out "$home/$1.jsonl" --quiet
      "$program" tokenizer train "$home/$1.jsonl" --vocab-size 512 --out "$home/$1.tokenizer.json" --quiet
      "$program" data tokenize "$home/$1.tokenizer.json" "$home/$1.jsonl" --out "$text" --quiet
      ;;
    *)
      echo "science.sh: $queue names a text that is not known: $1" >&2
      exit 2
      ;;
  esac
}

tokenizer_of() {
  if [[ -e $home/$1.tokenizer.json ]]; then echo "$home/$1.tokenizer.json"; else echo bytes; fi
}

run_queue() {
  mkdir -p "$home"
  exec 9>"$home/lock"
  flock --nonblock 9 || { echo "science.sh: it runs already" >&2; exit 1; }
  echo $$ >"$home/pid"
  pin_program
  while read -r name text arguments; do
    [[ -e $home/$name/done ]] && continue
    make_text "$text"
    echo "$(date -u +%H:%M) $name"
    # shellcheck disable=SC2086  # the arguments of a line are several words
    "$program" sweep $arguments --data "$home/$text.tokens" --tokenizer "$(tokenizer_of "$text")" --out "$home/$name" \
      --resume --threads 1 --quiet </dev/null >"$home/$name.log" 2>&1
    touch "$home/$name/done"
  done < <(jobs_of_queue)
}

show_status() {
  while read -r name _; do
    local ended=0
    [[ -e $home/$name/table.csv ]] && ended=$(($(wc -l <"$home/$name/table.csv") - 1))
    printf '%-18s %s\n' "$name" "$([[ -e $home/$name/done ]] && echo "done, $ended runs" || echo "$ended runs ended")"
  done < <(jobs_of_queue)
}

signal_queue() { # SIGNAL: to the script and the training below it
  local pid
  pid=$(cat "$home/pid" 2>/dev/null) && kill "-$1" -- "-$pid" 2>/dev/null || echo "science.sh: it does not run" >&2
}

# A line of docs/results/nursery.csv. Validation loss is of the run's last validation, the rest of the same weights:
# copies and excess on documents beyond the text, sink and activation on 200 held-out sequences, as `sluice demo` measures.
nursery_line() { # VARIANT SEED LOSS
  local weights=$home/nursery/$1/seed-$2/latest score look
  score=$("$measuring" eval "$weights" --task backcopy --seed 1 --json --quiet)
  look=$("$measuring" attention "$weights" --held-out --chunks 200 --json --quiet)
  jq -rn --arg variant "$1" --argjson seed "$2" --argjson loss "$3" --argjson score "$score" --argjson look "$look" \
    '$look.models[0] as $model
     | [$variant, $seed, $loss, $model.attention.on_key.value,
        $model.activations[0].largest_of_a_sequence.value, $score.copy_accuracy, $score.excess]
     | map(tostring) | join(",")'
}

collect_nursery() {
  local out=docs/results/nursery.csv variant seed loss
  [[ -x $measuring ]] || { echo "science.sh: $measuring is missing: scripts/build.sh release" >&2; exit 1; }
  {
    echo variant,seed,validation_loss,sink,max_activation,copy_accuracy,excess
    while IFS=, read -r variant seed loss _; do
      nursery_line "$variant" "$seed" "$loss"
    done < <(tail -n +2 "$home/nursery/table.csv")
  } >"$out.new"
  mv "$out.new" "$out"
  echo "$out: $(($(wc -l <"$out") - 1)) runs"
}

case ${1:-} in
  run)
    # In a process group of its own, so that pause and resume reach the training, too.
    [[ $(ps -o pgid= -p $$ | tr -d ' ') == "$$" ]] || exec setsid --wait "$0" run
    renice -n 19 $$ >/dev/null
    run_queue
    ;;
  status) show_status ;;
  pause) signal_queue STOP ;;
  resume) signal_queue CONT ;;
  collect) collect_nursery ;;
  *)
    sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
