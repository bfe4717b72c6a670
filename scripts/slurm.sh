#!/bin/bash
# A Slurm of two nodes on this machine, for tests: munged, slurmctld and two slurmd, run by
# whoever calls this, with everything that they write in one directory. Nothing outside of it
# is changed, and another Slurm on the machine is not disturbed.
#
#   scripts/slurm.sh install          Debian's packages, as root, where they are missing
#   scripts/slurm.sh start DIR        starts it in DIR and waits until both nodes are idle;
#                                     jobs: export SLURM_CONF=DIR/slurm.conf
#   scripts/slurm.sh slurmd DIR node1 starts one of the slurmds again, after it was killed
#   scripts/slurm.sh stop DIR         cancels all jobs and ends the daemons
#
# DIR/slurmd.node0.pid and the like tell a test which process to kill.
set -euo pipefail

fail() {
	echo "slurm.sh: $*" >&2
	exit 1
}

install_packages() {
	if command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v sbatch >/dev/null && command -v munged >/dev/null; then
		return
	fi
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq
	apt-get install -qq -y --no-install-recommends slurmctld slurmd slurm-client munge >/dev/null
}

# Prints COUNT ports on which nothing listens, others than another one of these that starts now
# is likely to take.
free_ports() {
	local found=0 port=$((20000 + $$ % 1000 * 10))
	while [ "$found" -lt "$1" ]; do
		port=$((port + 1))
		if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
			echo "$port"
			found=$((found + 1))
		fi
	done
}

# Short times, so that tests see what else takes minutes: a node is down after 10 s without an
# answer, a job killed 2 s after SIGTERM, requeued six seconds later. Each node claims two processors,
# whatever the machine has (config_overrides).
configure() {
	local dir=$1 host ports
	host=$(hostname -s)
	mapfile -t ports < <(free_ports 3)
	cat >"$dir/slurm.conf" <<-END
		ClusterName=reprise
		SlurmctldHost=$host(127.0.0.1)
		SlurmUser=$(id -un)
		SlurmdUser=$(id -un)
		AuthType=auth/munge
		AuthInfo=socket=$dir/munge.socket,cred_expire=5
		CredType=cred/munge
		SlurmctldPort=${ports[0]}
		SlurmctldPidFile=$dir/slurmctld.pid
		SlurmctldLogFile=$dir/slurmctld.log
		SlurmdPidFile=$dir/slurmd.%n.pid
		SlurmdLogFile=$dir/slurmd.%n.log
		SlurmdSpoolDir=$dir/spool.%n
		StateSaveLocation=$dir/state
		SlurmdParameters=config_overrides
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SwitchType=switch/none
		MpiDefault=none
		JobAcctGatherType=jobacct_gather/none
		SchedulerType=sched/backfill
		SchedulerParameters=batch_sched_delay=0,bf_interval=1,sched_interval=1
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		PreemptType=preempt/partition_prio
		PreemptMode=REQUEUE
		JobRequeue=1
		ReturnToService=2
		SlurmdTimeout=10
		SlurmctldTimeout=10
		MinJobAge=300
		KillWait=2
		NodeName=node0 NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[1]} CPUs=2 RealMemory=1000
		NodeName=node1 NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[2]} CPUs=2 RealMemory=1000
		PartitionName=work Nodes=node0,node1 Default=YES PriorityTier=1
		PartitionName=urgent Nodes=node0,node1 PriorityTier=2
	END
}

start_munge() {
	local dir=$1
	dd if=/dev/urandom of="$dir/munge.key" bs=128 count=1 status=none
	chmod 600 "$dir/munge.key"
	munged --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munged.pid" \
		--log-file="$dir/munged.log" --seed-file="$dir/munged.seed" 2>"$dir/munged.err" ||
		fail "munged does not start: $(cat "$dir/munged.err")"
}

start_slurmd() {
	local dir=$1 node=$2
	mkdir -p "$dir/spool.$node"
	slurmd -f "$dir/slurm.conf" -N "$node" || fail "slurmd -N $node does not start: $(tail -3 "$dir/slurmd.$node.log")"
}

start() {
	local dir=$1 i
	mkdir -p "$dir/state"
	chmod 755 "$dir"
	configure "$dir"
	export SLURM_CONF=$dir/slurm.conf
	start_munge "$dir"
	slurmctld -f "$SLURM_CONF" || fail "slurmctld does not start: $(tail -3 "$dir/slurmctld.log")"
	start_slurmd "$dir" node0
	start_slurmd "$dir" node1
	for ((i = 0; i < 300; i++)); do
		if [ "$(sinfo -h -p work -t idle -o %D 2>/dev/null)" = 2 ]; then
			return
		fi
		sleep 0.1
	done
	sinfo >&2 || true
	tail -n 5 "$dir"/*.log >&2
	fail "the nodes are not idle after 30 s"
}

# Prints the process whose id is in a file of a daemon, if it is that daemon.
daemon() {
	local pid
	pid=$(cat "$1" 2>/dev/null) && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$2" ] && echo "$pid"
}

# The daemons are killed once no job is left: what they would save is of no use, and
# slurmctld would take some seconds for it.
stop() {
	local dir=$1 pids pid i
	export SLURM_CONF=$dir/slurm.conf
	if [ -f "$SLURM_CONF" ] && daemon "$dir/slurmctld.pid" slurmctld >/dev/null && scancel --user="$(id -un)"; then
		for ((i = 0; i < 100; i++)); do
			[ -n "$(squeue -h)" ] || break
			sleep 0.1
		done
	fi
	pids=$(daemon "$dir/slurmctld.pid" slurmctld || true
		daemon "$dir/slurmd.node0.pid" slurmd || true
		daemon "$dir/slurmd.node1.pid" slurmd || true
		daemon "$dir/munged.pid" munged || true)
	for pid in $pids; do
		kill -9 "$pid"
	done
	while [ -n "$pids" ] && kill -0 $pids 2>/dev/null; do sleep 0.01; done
}

usage="usage: slurm.sh install | start DIR | slurmd DIR NODE | stop DIR"
case "${1-} $#" in
"install 1") install_packages ;;
"start 2" | "stop 2" | "slurmd 3")
	dir=$(realpath -m "$2")
	case $1 in
	start) start "$dir" ;;
	stop) stop "$dir" ;;
	slurmd) start_slurmd "$dir" "$3" ;;
	esac ;;
*)
	echo "$usage" >&2
	exit 2 ;;
esac
