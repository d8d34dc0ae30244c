#!/usr/bin/env bats
# cove inside a container: it works in one that allows it, and says what to ask for in one that doesn't.
#
# The daemon is started here, on a socket of its own, and ended by its number.  The image holds the release build, which
# needs no library, and a shell.
# shellcheck disable=SC2154 # $work
bats_require_minimum_version 1.5.0

setup_file() {
	dir=$(mktemp -d "${TMPDIR:-/tmp}/docker.XXXXXX")
	export dir DOCKER_HOST=unix://$dir/sock
	dockerd --iptables=false --bridge=none --default-ulimit nofile=1024:1024 --data-root "$dir/data" \
		--exec-root "$dir/exec" --pidfile "$dir/pid" -H "$DOCKER_HOST" >"$dir/log" 2>&1 3>&- &
	echo $! >"$dir/daemon"
	image | docker_ready import - cove-test >&2
}

teardown_file() {
	kill "$(cat "$dir/daemon")"
	while kill -0 "$(cat "$dir/daemon")" 2>/dev/null; do
		sleep 0.05
	done
	rm -rf "$dir"
}

load ../cli/helper

# docker, once the daemon answers.
docker_ready() {
	eventually docker info >/dev/null 2>&1 || { cat "$dir/log" && return 1; }
	docker "$@"
}

# An image of a shell, a few programs and cove, as a tar.
image() {
	local root=$dir/root file
	mkdir -p "$root"/{usr/bin,usr/lib,usr/lib64,etc,proc,sys,dev,tmp,work,cove}
	ln -s usr/bin "$root/bin" && ln -s usr/lib "$root/lib" && ln -s usr/lib64 "$root/lib64"
	chmod 1777 "$root/tmp" "$root/work"
	for file in bash cat id ls mount mknod unshare kill sleep; do
		cp -L "$(type -P $file)" "$root/usr/bin/"
	done
	ln -s bash "$root/usr/bin/sh"
	ldd "$root"/usr/bin/* | grep -o '/[^ ]*' | grep -v "^$root" | sort -u | while read -r file; do
		mkdir -p "$root$(dirname "$file")" && cp -L "$file" "$root$file"
	done
	cp "$COVE_SOURCE/build/cove" "$COVE_SOURCE/build/cove-guest" "$root/cove/"
	echo seen >"$root/work/file"
	tar -c -C "$root" .
}

# in_container [OPTION...] -- ARG...: cove with these arguments in a new container.
in_container() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	docker run --rm --network none -w /work "${options[@]}" cove-test /cove/cove "$@" 3>&-
}

no_profile=(--security-opt seccomp=unconfined --security-opt apparmor=unconfined)
open_container=("${no_profile[@]}" --security-opt systempaths=unconfined)

@test "SBX-7: in a container with a profile against namespaces, what to ask for is said" {
	status 125 in_container -- exec -- true
	says stderr "--security-opt seccomp=unconfined --security-opt apparmor=unconfined"
	[ ! -s stdout ]
}

@test "SBX-7: where parts of /proc are masked, what to ask for is said" {
	status 125 in_container "${no_profile[@]}" -- exec -- true
	says stderr "--security-opt systempaths=unconfined"
}

@test "SBX-1, SBX-2: in a container that allows it everything works, the seed on an overlay too" {
	status 0 in_container "${open_container[@]}" -- exec --diff -c 'cat file; id -u; echo new > file'
	[ "$(head -n 2 stdout)" = $'seen\n1000' ]
	says stdout -seen
	says stdout +new
	status 0 in_container "${open_container[@]}" -- doctor
}

@test "SBX-1, SBX-2: as an ordinary user of a read-only container too" {
	status 0 in_container "${open_container[@]}" -u 1001:1001 --read-only --tmpfs /tmp -- \
		exec -c 'cat file; id -u; echo new > other; cat other'
	[ "$(cat stdout)" = $'seen\n1000\nnew' ]
}
