#!/bin/bash
# Runs a command on a machine in which /run/a and /run/b are one directory over NFS, as on two
# hosts of a cluster: a user-mode Linux with this machine's files, a kernel NFS server in it, and two
# mounts that share nothing of what they remember. For machines whose own kernel has no NFS.
#
#   scripts/nfs.sh install                 Debian's packages, as root, where they are missing
#   scripts/nfs.sh run VERSION COMMAND...  VERSION of NFS: 3 or 4.2
#
# Exits as the command does. The machine has one processor and 2 GB, half of which is its disk.
set -euo pipefail

install_packages() {
	if command -v linux.uml >/dev/null && command -v exportfs >/dev/null && command -v modprobe >/dev/null; then
		return
	fi
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq
	apt-get install -qq -y --no-install-recommends user-mode-linux nfs-kernel-server nfs-common rpcbind kmod >/dev/null
}

# Writes what the machine runs as its first process: modules, server, mounts, the command.
# /run and /var/lib/nfs are its own.
write_init() {
	local dir=$1 version=$2
	shift 2
	mkdir -p "$dir/lib"
	ln -sfn /usr/lib/uml/modules "$dir/lib/modules"
	cat >"$dir/init" <<-END
		#!/bin/bash
		export PATH="$PATH" HOME=/run TMPDIR=/run/tmp
		exec >"$dir/out" 2>&1
		mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t tmpfs none /run
		ip link set lo up
		for m in nfsd nfs nfsv3 nfsv4; do modprobe -d "$dir" \$m; done
		mount -t tmpfs none /var/lib/nfs
		mkdir -p /var/lib/nfs/rpc_pipefs /var/lib/nfs/sm /var/lib/nfs/v4recovery /run/rpcbind /run/lock /run/export /run/a /run/b /run/tmp
		touch /var/lib/nfs/etab /var/lib/nfs/rmtab /var/lib/nfs/state
		mount -t nfsd nfsd /proc/fs/nfsd
		mount -t tmpfs none /run/export
		rpcbind -w
		exportfs -o rw,no_root_squash,insecure,fsid=0 127.0.0.1:/run/export
		rpc.mountd 2>/dev/null
		rpc.nfsd --grace-time 10 --lease-time 10 4
		path=/run/export
		case $version in 4*) path=/ ;; esac
		for d in a b; do
			mount -t nfs -o vers=$version,nolock,nosharecache,proto=tcp 127.0.0.1:\$path /run/\$d || exit 125
		done
		cd "$PWD"
		$(printf '%q ' "$@")
		echo \$? >"$dir/code"
	END
	cat >"$dir/first" <<-END
		#!/bin/sh
		"$dir/init"
		mount -t proc proc /proc 2>/dev/null
		echo o >/proc/sysrq-trigger
		sleep 10
	END
	chmod +x "$dir/init" "$dir/first"
}

run() {
	local dir tail code
	dir=$(mktemp -d)
	write_init "$dir" "$@"
	echo 125 >"$dir/code"
	: >"$dir/out"
	tail -f "$dir/out" &
	tail=$!
	linux.uml quiet mem=2048M rootfstype=hostfs rootflags=/ rw "init=$dir/first" con=null con0=null,fd:2 </dev/null >"$dir/kernel" 2>&1 || true
	sleep 0.2
	kill "$tail"
	code=$(cat "$dir/code")
	[ "$code" != 125 ] || cat "$dir/kernel" >&2
	rm -rf "$dir"
	exit "$code"
}

case "${1-}" in
install) install_packages ;;
run)
	shift
	[ $# -ge 2 ] || { echo "usage: nfs.sh run VERSION COMMAND..." >&2 && exit 2; }
	run "$@" ;;
*)
	echo "usage: nfs.sh install | run VERSION COMMAND..." >&2
	exit 2 ;;
esac
