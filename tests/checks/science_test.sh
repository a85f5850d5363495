#!/usr/bin/env bash
# science.sh and reproduce.sh in a tree of their own, with a pretended sluice: science_test.sh SOURCE_DIR
# shellcheck source=tests/checks/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
tree=$work/tree
home=$work/home
mkdir -p "$tree"/{scripts/corpus,experiments/ledger,docs/results,build/release} "$home"
cp "$1"/scripts/{science,reproduce,experiment-runs}.sh "$tree/scripts"
printf '#!/bin/sh\n' >"$tree/scripts/corpus/for-experiment.sh"

# An experiment ends as $work/NAME.ends says, if it says so. Noted is which were begun, and under whose lock.
cat >"$home/sluice" <<'END'
#!/usr/bin/env bash
name=$(basename "$2" .json)
echo "$name" >>"$WORK/begun"
for lock in "$WORK"/home/*.lock; do
  if ! flock --nonblock "$lock" true; then echo "$name under $(basename "$lock")" >>"$WORK/locks"; fi
done
if [[ " $* " == *" --json "* ]]; then printf '{\n  "planned_runs": 7,\n  "pairs_looked_at": 5\n}\n'; fi
if [[ -e $WORK/$name.ends ]]; then
  echo "$name is no good"
  source "$WORK/$name.ends"
fi
END
cp "$home/sluice" "$tree/build/release/sluice"
chmod +x "$home/sluice" "$tree/build/release/sluice" "$tree/scripts/corpus/for-experiment.sh"
for name in first second third; do
  echo "$name" >>"$tree/experiments/queue.txt"
  printf '{\n  "seeds": 1\n}\n' >"$tree/experiments/$name.json"
  echo '{}' >"$tree/experiments/ledger/$name.jsonl"
done
printf '{"seeds": 1, "runs":"first"}' >"$tree/experiments/third.json" # its lines are broken otherwise

export WORK=$work SLUICE=$home/sluice SLUICE_SCIENCE=$home
# In a session of its own, where the queue lowers its priority.
science() { rm -f "$work"/{begun,locks} && setsid --wait "$tree/scripts/science.sh" "$@"; }
reproduce() { rm -f "$work"/{begun,locks} && "$tree/scripts/reproduce.sh" "$@"; }
# begun WHAT NAMES
begun() { output=$(xargs <"$work/begun") && expect_output "$1" "$2"; }
status_of() { "$@" && echo 0 || echo "$?"; }

expect_pass "a queue" science run
begun "one after another" "first second third"
expect_pass "under the lock of those whose runs it has, wherever its file says so" \
  grep -qx "third under first.lock" "$work/locks"

echo 'exit 3' >"$work/first.ends"
expect_fail "a queue with an experiment that fails" "science.sh: failed: first" science run
begun "the others are not kept waiting" "first second third"
expect_fail "its last words" "first: first is no good" science run

echo 'kill -SEGV $$' >"$work/first.ends"
expect_fail "a queue with an experiment that crashes" "science.sh: failed: first" science run
begun "the others are not kept waiting by that either" "first second third"

for stop in 'exit 130' 'kill -TERM $$'; do
  echo "$stop" >"$work/first.ends"
  expect_fail "a queue that was interrupted by $stop" "first: " science run
  begun "nothing more is begun" "first"
done
output=$(status_of science run 2>/dev/null | tail -n 1) && expect_output "how it ended" 143

echo 'exit 3' >"$work/first.ends"
expect_fail "a page that cannot be made" "science.sh: failed: first" science pages
begun "does not keep the others from it" "first second third"
rm "$work/first.ends"
expect_pass "pages" science pages

output=$(science status) && output=$(grep '^third' <<<"$output")
expect_output "status" \
  "third                   1 of   7 runs in the ledger, looked at with  5 pairs;   0 have validated here"

sed -i 's/"pairs_looked_at": 5/"pairs_looked_at": null/' "$home/sluice"
output=$(science status) && output=$(grep '^third' <<<"$output")
expect_output "status of one without looks" \
  "third                   1 of   7 runs in the ledger, no looks are planned;   0 have validated here"

expect_pass "to reproduce" reproduce third "$home"
expect_pass "takes the same lock as the queue" grep -qx "third under first.lock" "$work/locks"
exec {held}>"$home/first.lock"
flock "$held"
expect_pass "a queue beside somebody who trains" science run
begun "leaves out what the other trains" "second"
output=$(science run 2>&1 | grep "left out")
expect_output "and says so" "first: left out, somebody else trains first
third: left out, somebody else trains first"
rm "$home/second.lock"
mkdir "$home/second.lock" # no lock can be had there
expect_fail "a lock that cannot be had is no other who trains" "science.sh: failed: second" science run
rmdir "$home/second.lock"
: >"$work/waits"
"$tree/scripts/reproduce.sh" third "$home" >"$work/waits" 2>&1 &
for ((tries = 0; tries < 300; ++tries)); do # 30 seconds
  if grep -q "somebody else trains first" "$work/waits"; then break; fi
  sleep 0.1
done
expect_pass "to reproduce waits for the queue" grep "somebody else trains first" "$work/waits"
flock --unlock "$held"
wait $!
begun "and trains then" "third"
