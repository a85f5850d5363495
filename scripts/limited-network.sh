#!/usr/bin/env bash
# Runs a command on two ranks that see each other through a network of limited bandwidth only: two network namespaces of
# this machine with a cable between them. limited-network.sh RATE COMMAND...
#
#   scripts/limited-network.sh 1gbit build/release/sluice bench scale --threads 1
#
# RATE is as tc has it (1gbit, 100mbit); latency is what it is. Needs root, iproute2 and Open MPI. Each rank has a core of
# its own where there are two.
set -euo pipefail

if (($# < 2)); then
  sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
rate=$1
shift
for program in ip tc unshare mpirun; do
  command -v "$program" >/dev/null || { echo "limited-network.sh: $program is not installed" >&2; exit 2; }
done
((EUID == 0)) || { echo "limited-network.sh: network namespaces need root" >&2; exit 2; }

a=sluice-$$-a b=sluice-$$-b  # of this call alone: several may run beside each other
agent=$(mktemp)
clean_up() {
  ip netns del "$a" 2>/dev/null || true
  ip netns del "$b" 2>/dev/null || true
  rm -f "$agent"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

ip netns add "$a"
ip netns add "$b"
ip -n "$a" link add cable type veth peer name cable netns "$b"
address=1
for space in "$a" "$b"; do
  ip -n "$space" addr add "10.77.0.$address/24" dev cable
  ip -n "$space" link set lo up
  ip -n "$space" link set cable up
  # A bucket filter, which kernels have oftener than netem. Its burst and its queue are short: what a
  # burst lets through at once has no bandwidth, and small messages wait behind what is queued.
  tc -n "$space" qdisc add dev cable root tbf rate "$rate" burst 16kb limit 256kb
  address=$((address + 1))
done

# What mpirun takes for ssh: HOST COMMAND... There is one other host. It gets a name of its own, because Open MPI takes
# processes with the same one for neighbours that share memory.
cat >"$agent" <<AGENT
#!/usr/bin/env bash
shift
exec ip netns exec $b unshare --uts bash -c 'hostname $b && exec bash -c "\$1"' agent "\$*"
AGENT
chmod +x "$agent"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Each binds itself: mpirun takes both hosts' cores for different ones.
# shellcheck disable=SC2016
ip netns exec "$a" mpirun -n 2 --host 10.77.0.1,10.77.0.2 --bind-to none \
  --mca plm_rsh_agent "$agent" --mca plm_rsh_no_tree_spawn 1 \
  --mca btl self,tcp --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 \
  bash -c 'core=$((OMPI_COMM_WORLD_RANK % $(nproc))); exec taskset -c "$core" "$@"' rank "$@"
