#!/usr/bin/env bats
# cove files: short forms of the file operations.
# shellcheck disable=SC2016,SC2030,SC2031,SC2094,SC2154 # scripts for another shell; a test is a subshell; $work

load helper

@test "cove files: help of it and of each verb, with an example" {
	status 0 "$COVE" files --help
	for verb in ls find grep stat read write edit patch cp mv rm mkdir; do
		says stdout "  $verb "
	done
	for verb in ls find grep stat read write edit patch cp mv rm mkdir; do
		status 0 "$COVE" files "$verb" --help
		says stdout "usage: cove files $verb "
		sed -n '/^example:/,$p' stdout | grep -q "cove files $verb "
		cp stdout want
		status 0 "$COVE" help files "$verb"
		diff stdout want
	done
}

@test "cove files: a wrong command line is refused and nothing is done" {
	status 2 "$COVE" files
	says stderr hint
	status 2 "$COVE" files shred x
	says stderr "unknown verb 'files shred'"
	status 2 "$COVE" files --env here read x
	says stderr 'behind its verb'
	status 2 "$COVE" help files shred
	status 2 "$COVE" files read
	says stderr 'PATH'
	status 2 "$COVE" files read a b
	status 2 "$COVE" files cp a
	status 2 "$COVE" files edit f a
	status 2 "$COVE" files edit f a b c
	says stderr "'c' has no NEW"
	status 2 "$COVE" files read --from 0 f
	status 2 "$COVE" files write --mode sometimes f </dev/null
	status 2 "$COVE" files rm --force f
	says stderr 'cove files rm --help'
	[ ! -e f ]
}

@test "FILE-4: cove files write: stdin becomes the file, in each mode" {
	printf 'a\0\377b' >bytes
	status 0 "$COVE" files write deep/er/f <bytes
	cmp bytes deep/er/f
	status 1 "$COVE" files write --mode create deep/er/f </dev/null
	cmp bytes deep/er/f
	status 0 "$COVE" files write --mode append deep/er/f <bytes
	cat bytes bytes | cmp - deep/er/f
	status 1 "$COVE" files write --mode replace nope <bytes
	status 1 "$COVE" files write --no-parents no/pe <bytes
	status 0 "$COVE" files write -x script <bytes
	[ -x script ]
	status 0 "$COVE" files write empty </dev/null
	[ -f empty ] && [ ! -s empty ]
	[ "$(find . -name '.cove-*')" = "" ]
	mkfifo fifo
	status 2 timeout 10 "$COVE" files write fifo <bytes
}

@test "FILE-3: cove files read: byte for byte, of any size" {
	head -c 9000000 /dev/urandom >big
	"$COVE" files read big | cmp - big
	: >empty
	status 0 "$COVE" files read empty
	[ ! -s stdout ]
	status 0 "$COVE" files read /proc/self/limits
	says stdout 'Max processes'
	status 1 "$COVE" files read nope
	says stderr "'nope'"
	status 1 "$COVE" files read .
	mkfifo fifo
	status 2 timeout 10 "$COVE" files read fifo
	"$COVE" files read big | head -c 10 >/dev/null
	[ "${PIPESTATUS[0]}" = 141 ]
}

@test "FILE-2: cove files read: lines of a text" {
	seq 300000 >n
	status 0 "$COVE" files read --from 299999 n
	seq 299999 300000 | diff stdout -
	status 0 "$COVE" files read --lines 250000 n
	seq 250000 | cmp stdout -
	printf 'a\r\nb' >f
	status 0 "$COVE" files read -n f
	printf '     1\ta\r\n     2\tb' | cmp stdout -
	printf 'a\0' >f
	status 3 "$COVE" files read --from 1 f
	status 0 "$COVE" files read --from 9 n --lines 1
	echo 9 | diff stdout -
}

@test "FILE-6: cove files edit: all pieces or none" {
	printf 'a\r\nb\r\nc' >f
	chmod 750 f
	status 0 "$COVE" files edit f b B c ''
	printf 'a\r\nB\r\n' | cmp f -
	[ "$(stat -c %a f)" = 750 ]
	status 1 "$COVE" files edit f a A nope x
	printf 'a\r\nB\r\n' | cmp f -
	printf -- '-x -x\n' >f
	status 1 "$COVE" files edit f -- -x -y
	says stderr 'occurs 2 times'
	status 0 "$COVE" files edit --count 2 f -- -x -y
	echo '-y -y' | diff f -
}

@test "FILE-7: cove files patch: a diff of several files, or of one" {
	mkdir a b
	seq 9 >a/mod && sed 's/5/five/' a/mod >b/mod
	echo gone >a/del
	echo new >b/add
	diff -urN a b >all.diff || true
	cp -R a c
	status 0 "$COVE" files patch c <all.diff
	sort stdout | diff - <(printf '%s\n' 'A c/add' 'D c/del' 'M c/mod')
	diff -r b c
	status 1 "$COVE" files patch --input all.diff c
	says stderr c/add
	diff -r b c
	diff -u a/mod b/mod >one.diff || true
	cp a/mod other
	status 0 "$COVE" files patch other -i one.diff
	cmp other b/mod
	status 1 "$COVE" files patch -i nope
}

@test "FILE-14: cove files cp, mv, rm and mkdir" {
	mkdir -p src/sub && echo x >src/sub/f && ln -s sub/f src/link
	status 0 "$COVE" files cp src copy
	diff -r src copy
	[ "$(readlink copy/link)" = sub/f ]
	status 1 "$COVE" files cp src copy
	says stderr 'replace'
	status 0 "$COVE" files mv copy moved
	[ ! -e copy ] && [ -e moved/sub/f ]
	status 0 "$COVE" files cp -f src/sub/f moved/link
	[ ! -L moved/link ]
	status 1 "$COVE" files rm moved
	status 1 "$COVE" files rm -r nope moved
	[ ! -e moved ]
	status 0 "$COVE" files rm -f moved nope
	status 1 "$COVE" files mkdir p/q
	status 0 "$COVE" files mkdir -p p/q p/q
	[ -d p/q ]
	status 1 "$COVE" files mkdir p
	[ ! -s stdout ]
}

@test "FILE-8, FILE-9: cove files ls and stat" {
	mkdir d && (cd d && touch b a .c "$(printf '\377')" && ln -s a l && chmod 4711 a)
	status 0 "$COVE" files ls d
	diff stdout <(printf '%s\n' a b l)
	says stderr '1 names are not UTF-8'
	status 0 "$COVE" files ls -a d
	diff stdout <(printf '%s\n' .c a b l)
	status 0 "$COVE" files ls -l d
	grep -qE '^-rws--x--x +0 20[0-9-]+T[0-9:]+Z a$' stdout
	grep -qE '^l.* l -> a$' stdout
	(cd d && seq 25000 | xargs touch)
	[ "$("$COVE" files ls d 2>/dev/null | wc -l)" = 25003 ]
	"$COVE" files ls d 2>/dev/null | head -n 1
	status 1 "$COVE" files ls d/a
	status 0 "$COVE" files stat d/l d
	grep -qx 'kind: symlink' stdout && grep -qx 'target: a' stdout && grep -qx 'kind: directory' stdout
	status 1 "$COVE" files stat nope d
	grep -qx 'path: d' stdout
}

@test "PROV-1: cove files: here, unless --env, --bind or COVE_ENV say otherwise" {
	mkdir seed other
	echo seed >seed/f
	echo other >other/f
	status 0 "$COVE" files read --env workspace --seed seed f
	echo seed | diff stdout -
	status 0 "$COVE" files read --bind other f
	echo other | diff stdout -
	COVE_ENV=workspace status 1 "$COVE" files read seed/f
	status 0 "$COVE" files read seed/f
	status 3 "$COVE" files read --env docker:x f
	status 0 "$COVE" files rm --env workspace --seed seed f
	[ -e seed/f ]
	status 1 "$COVE" files read --env workspace --seed seed /etc/hostname
	says stderr 'outside'
}

@test "cove files: a signal ends it, and leaves the old content" {
	echo old >f
	mkfifo in
	"$COVE" files write f <in &
	pid=$!
	exec 7>in
	echo part >&7
	sleep 0.3
	kill -TERM "$pid"
	code=0
	wait "$pid" || code=$?
	exec 7>&-
	[ "$code" = 143 ]
	echo old | diff f -
	[ "$(find . -name '.cove-*')" = "" ]
}

@test "FILE-4: cove files write: killed in the middle, nothing is left" {
	echo old >f
	mkfifo in
	"$COVE" files write f <in &
	pid=$!
	exec 7>in
	head -c 300000 /dev/zero >&7
	sleep 0.2
	kill -KILL "$pid"
	wait "$pid" || true
	exec 7>&-
	sleep 0.2
	echo old | diff f -
	[ "$(find . -name '.cove-*')" = "" ]
}
