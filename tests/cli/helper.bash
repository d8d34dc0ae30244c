# What the tests of the command line share.  $COVE is the program; the environment is that of tools/run-tests.
# shellcheck shell=bash

setup() {
	work=$(mktemp -d "${TMPDIR:-/tmp}/cli.XXXXXX")
	cd "$work" || return 1
	export XDG_STATE_HOME=$work/state
	unset COVE_ENV
	[ -z "${COVE_TEST_ENV-}" ] || export COVE_ENV=$COVE_TEST_ENV
}

# Nothing that a test started may live on.
teardown() {
	local left
	left=$(survivors)
	# shellcheck disable=SC2086 # a list of numbers
	[ -z "$left" ] || kill -KILL $left 2>/dev/null
	cd / && chmod -R u+rwX "$work" && rm -rf "$work"
	[ -z "$left" ] || { echo "left behind: $left" && return 1; }
}

# The processes that work in a workspace of this test.
survivors() {
	find /proc -maxdepth 2 -name cwd \( -lname "$work/state/*" -o -lname "$work/runs/*" \) 2>/dev/null | cut -d / -f 3
}

no_survivors() { [ -z "$(survivors)" ]; }

# Succeeds where the command fails; a plain ! would not end a test.
no() { ! "$@"; }

# tasks PROMPT...: a task file with one record for each.
tasks() {
	local prompt
	for prompt; do
		jq -cn --arg prompt "$prompt" '{prompt: $prompt}'
	done >tasks.jsonl
}

# Waits until a command succeeds, 10 s at most.
eventually() {
	local tries=0
	until "$@"; do
		[ $((tries++)) -lt 200 ] || return 1
		sleep 0.05
	done
}

# status N COMMAND...: runs it and expects that exit status; leaves stdout and stderr in files.
status() {
	local want=$1 got=0
	shift
	"$@" >stdout 2>stderr || got=$?
	[ "$got" = "$want" ] || { echo "exit status $got, not $want: $*" && cat stdout stderr && return 1; }
}

# says FILE TEXT: the file holds the text.
says() {
	grep -qF -- "$2" "$1" || { echo "'$2' is not in $1:" && cat "$1" && return 1; }
}

# Whether a mount namespace of our own can be had.
can_mount() { unshare -rm true 2>/dev/null; }
