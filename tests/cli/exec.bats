#!/usr/bin/env bats
# cove exec: one command, with the caller's streams.
# shellcheck disable=SC2016,SC2030,SC2031,SC2094,SC2154 # scripts for another shell; a test is a subshell; $work

load helper

@test "cove exec: the command's own exit status" {
	status 0 "$COVE" exec -- true
	status 1 "$COVE" exec -- false
	status 7 "$COVE" exec -c 'exit 7'
	status 255 "$COVE" exec -- sh -c 'exit 255'
}

@test "cove exec: 128+n after a signal, 124 after the time limit" {
	status 137 "$COVE" exec -c 'kill -9 $$'
	status 143 "$COVE" exec -c 'kill -TERM $$'
	status 124 "$COVE" exec --timeout 300ms -- sleep 61
	status 124 "$COVE" exec --timeout 300ms -c 'trap "exit 0" TERM; sleep 61 & wait'
}

@test "cove exec: 127 not found, 126 not executable, 125 what cove could not do" {
	status 127 "$COVE" exec -- no-such-program
	says stderr no-such-program
	status 127 "$COVE" exec --env here -- ./no-such-program
	echo data >file
	status 126 "$COVE" exec --env here -- ./file
	status 126 "$COVE" exec --env here -- "$work"
	status 125 "$COVE" exec --cwd nope -- true
	says stderr nope
	status 125 "$COVE" exec --seed nope -- true
	says stderr nope
	status 125 "$COVE" exec --seed file -- true
}

@test "PROV-1: an unknown environment is 2 and lists the known, one that is not built is 3" {
	status 2 "$COVE" exec --env nowhere -- true
	says stderr here
	says stderr workspace
	status 3 "$COVE" exec --env docker:debian -- true
	status 3 "$COVE" exec --env ssh:host -- true
}

@test "PROV-1: --env wins over COVE_ENV, which wins over the default" {
	export COVE_ENV=here
	status 0 "$COVE" exec -- pwd
	[ "$(cat stdout)" = "$work" ]
	status 0 "$COVE" exec --env workspace -- pwd
	[ "$(cat stdout)" != "$work" ]
	COVE_ENV=nowhere status 2 "$COVE" exec -- true
	COVE_ENV='' status 0 "$COVE" exec -- true
}

@test "JOB-14: current-directory and filesystem are names for here and workspace" {
	status 0 "$COVE" exec --env current-directory -- pwd
	[ "$(cat stdout)" = "$work" ]
	status 0 "$COVE" exec --env filesystem -- pwd
	[ "$(cat stdout)" != "$work" ]
}

@test "cove exec: stdout and stderr stay apart, byte for byte" {
	status 3 "$COVE" exec -c 'printf "\000\377out"; printf "err\n" >&2; exit 3'
	[ "$(od -An -tx1 stdout | xargs)" = "00 ff 6f 75 74" ]
	[ "$(cat stderr)" = err ]
}

@test "cove exec: output comes through as it is written" {
	mkfifo pipe
	"$COVE" exec -c 'echo first; sleep 61' >pipe 3>&- &
	read -r -t 10 line <pipe
	[ "$line" = first ]
	kill -TERM $!
	wait $! || :
}

@test "cove exec: much output comes through whole" {
	"$COVE" exec -- seq 3000000 | cmp - <(seq 3000000)
}

@test "cove exec: stdin is passed on to its end" {
	seq 300000 >in
	"$COVE" exec -- cat <in | cmp - in
	seq 300000 | "$COVE" exec -- cat | cmp - in
	{ echo one; sleep 0.5; echo two; } | "$COVE" exec -- cat >out
	[ "$(xargs <out)" = "one two" ]
}

@test "cove exec: a command that does not read its stdin does not hang" {
	seq 3000000 | status 0 "$COVE" exec -- true
	seq 3000000 | status 0 "$COVE" exec -- head -n 1
	[ "$(cat stdout)" = 1 ]
	status 0 timeout 20 "$COVE" exec -- true < <(sleep 3)
}

@test "CASE-41: without input a command sees the end at once" {
	status 0 timeout 20 "$COVE" exec -- cat </dev/null
	status 0 timeout 20 "$COVE" exec -- cat <&-
}

@test "cove exec: a closed stdout ends the command" {
	start=$SECONDS
	"$COVE" exec -- yes | head -n 1 >out
	code=${PIPESTATUS[0]}
	[ "$code" = 141 ]
	[ $((SECONDS - start)) -lt 10 ]
	status 125 sh -c '"$COVE" exec -- yes >/dev/full'
	says stderr "No space left"
}

@test "cove exec --json: the result instead of the streams" {
	status 5 "$COVE" exec --json -c 'echo out; echo err >&2; exit 5'
	jq -e '.exit.code == 5 and .stdout == "out\n" and .stderr == "err\n"' stdout
	[ ! -s stderr ]
	status 124 "$COVE" exec --json --timeout 300ms -c 'echo a; sleep 61'
	jq -e '.exit.reason == "timeout" and .stdout == "a\n"' stdout
}

@test "cove exec: variables, directory, seed and bind" {
	mkdir -p seed/sub
	echo data >seed/file
	status 0 "$COVE" exec --set A=1 --set 'B=x y' -c 'echo "$A $B"'
	[ "$(cat stdout)" = "1 x y" ]
	status 0 "$COVE" exec --seed seed -c 'cat file; echo new >file'
	[ "$(cat stdout seed/file)" = $'data\ndata' ]
	status 0 "$COVE" exec --seed seed --cwd sub -c 'basename "$PWD"'
	[ "$(cat stdout)" = sub ]
	status 0 "$COVE" exec --bind seed -c 'echo new >file'
	[ "$(cat seed/file)" = new ]
	status 2 "$COVE" exec --bind seed --env workspace -- true
}

@test "cove exec: a workspace is removed, unless it is to be retained" {
	status 1 "$COVE" exec --env workspace -o root="$work/runs" -- false
	[ -z "$(find runs -mindepth 2)" ]
	status 0 "$COVE" exec --env workspace -o root="$work/runs" --retain success -- touch kept
	says stderr "kept in $work/runs/"
	[ -n "$(find runs -name kept)" ]
}

@test "CASE-21: the first interrupt ends the whole tree, exit 130 or 143" {
	for signal in INT TERM; do
		rm -f up
		"$COVE" exec --env here -c "setsid sleep 6161 & sleep 6161 & touch up; wait" 3>&- &
		eventually test -e up
		kill -"$signal" $!
		code=0 && wait $! || code=$?
		[ "$signal $code" = "INT 130" ] || [ "$signal $code" = "TERM 143" ]
		no pgrep -u "$(id -u)" -fx 'sleep 6161'
	done
}

@test "JOB-8: the second interrupt ends cove at once, and the command with it" {
	"$COVE" exec --env here -c 'trap "" TERM; touch up; exec sleep 6262' 3>&- &
	eventually test -e up
	kill -INT $!
	sleep 0.2
	kill -INT $! || :
	start=$SECONDS code=0
	wait $! || code=$?
	[ "$code" = 130 ]
	[ $((SECONDS - start)) -le 1 ]
	eventually no pgrep -fx 'sleep 6262'
}

@test "ERR-5: a guest that is killed in mid-command is noticed at once, and nothing of the command lives on" {
	"$COVE" exec --env here -c 'setsid sleep 6363 & touch up; sleep 6363' 2>stderr 3>&- &
	eventually test -e up
	guest=$(pgrep -P $! -x cove-guest)
	kill -KILL "$guest"
	start=${EPOCHREALTIME/./} code=0
	wait $! || code=$?
	[ $(((${EPOCHREALTIME/./} - start) / 1000)) -lt 1500 ]
	[ "$code" = 125 ]
	eventually no pgrep -fx "sleep 6363"
	[ -s stderr ]
}

@test "cove exec: a wrong command line is told apart and explained" {
	status 2 "$COVE" exec
	says stderr "no command"
	status 2 "$COVE" exec -c true -- true
	status 2 "$COVE" exec true
	status 2 "$COVE" exec --nonsense -- true
	says stderr "'--nonsense'"
	status 2 "$COVE" exec --timeout 5 -- true
	status 2 "$COVE" exec --timeout 0s -- true
	status 2 "$COVE" exec --timeout
	status 2 "$COVE" exec --json=yes -- true
}

@test "cove: every verb has --help with an example" {
	for verb in run exec call providers; do
		status 0 "$COVE" "$verb" --help
		says stdout "example:"
		says stdout "usage: cove $verb"
		status 0 "$COVE" help "$verb"
	done
	status 0 "$COVE" --help
	status 0 "$COVE" --version
	grep -qE '^cove [0-9]+\.[0-9]+\.[0-9]+$' stdout
	status 2 "$COVE"
	status 2 "$COVE" nonsense
	status 2 "$COVE" help nonsense
	status 1 sh -c '"$COVE" --help >/dev/full'
}
