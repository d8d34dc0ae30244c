#!/usr/bin/env bats
# cove exec: the options about stdin, the end, and the result.
# shellcheck disable=SC2016,SC2030,SC2031,SC2094,SC2154 # scripts for another shell; a test is a subshell; $work

load helper

@test "PROC-11: --stdin FILE is the command's stdin, to its end" {
	seq 300000 >in
	"$COVE" exec --stdin in -- cat | cmp - in
	echo other | status 0 "$COVE" exec --stdin in -- head -n 1
	[ "$(cat stdout)" = 1 ]
	echo own | status 0 "$COVE" exec --stdin - -- cat
	[ "$(cat stdout)" = own ]
	status 0 timeout 20 "$COVE" exec --stdin /dev/null -- cat
	[ ! -s stdout ]
	echo data >-
	status 0 "$COVE" exec --stdin ./- -- cat
	[ "$(cat stdout)" = data ]
}

@test "cove exec --stdin: a FIFO is read as it is written" {
	mkfifo pipe
	{ echo one; sleep 0.3; echo two; } >pipe &
	status 0 timeout 20 "$COVE" exec --stdin pipe -- cat
	[ "$(xargs <stdout)" = "one two" ]
}

@test "cove exec --stdin: a file that can't be read is named, and nothing is run" {
	status 125 "$COVE" exec --env here --stdin nope -- touch ran
	says stderr "'nope'"
	status 125 "$COVE" exec --env here --stdin . -- touch ran
	says stderr "Is a directory"
	status 2 "$COVE" exec --env here --stdin '' -- touch ran
	[ ! -e ran ]
}

@test "PROC-9: --grace is the time from TERM to KILL, 0s none" {
	start=${EPOCHREALTIME/./}
	status 124 "$COVE" exec --timeout 300ms --grace 200ms -c 'trap "" TERM; while :; do sleep 0.05; done'
	took=$(((${EPOCHREALTIME/./} - start) / 1000))
	[ "$took" -ge 490 ]
	[ "$took" -lt 1900 ]
	status 124 "$COVE" exec --json --timeout 300ms --grace 0s -c 'trap "exit 0" TERM; echo up; while :; do sleep 0.05; done'
	jq -e '.exit.signal == "KILL" and .exit.reason == "timeout" and .stdout == "up\n"' stdout
	status 124 "$COVE" exec --json --timeout 300ms --grace 20s -c 'trap "exit 0" TERM; while :; do sleep 0.05; done'
	jq -e '.exit.code == 0 and .exit.reason == "timeout"' stdout
}

@test "PROC-9: a bad duration is refused with a hint, and nothing is run" {
	for value in 0 0s 0ms -1 -1s nan inf 1e30 1e3s 5x 5 5S 1.5s ' 5s' '5s ' 0x5s 99999999999999999999s 2147483648ms 597h; do
		status 2 "$COVE" exec --env here --timeout "$value" -- touch ran
		says stderr "'--timeout' can't be '$value'"
		says stderr "hint: a whole number with ms, s, m or h"
	done
	for value in 0 -1 nan 1e30 5x 5 1.5s 99999999999999999999s; do
		status 2 "$COVE" exec --env here --grace="$value" -- touch ran
		says stderr "'--grace' can't be '$value'"
		says stderr "hint:"
	done
	status 2 "$COVE" exec --timeout '' -- true
	[ ! -e ran ]
	status 0 "$COVE" exec --timeout 2147483647ms -- true
}

@test "PROC-8: --descendants" {
	status 0 timeout 20 "$COVE" exec --json -c 'sleep 6171 & echo done'
	jq -e '.exit.survivors == 1 and .exit.tree == "clean" and (has("process") | not)' stdout
	status 0 timeout 20 "$COVE" exec --json --descendants kill -c 'sleep 6171 & echo done'
	jq -e '.exit.tree == "clean"' stdout
	status 0 timeout 20 "$COVE" exec --json --descendants adopt -c 'sleep 6171 & echo done'
	jq -e '.exit.code == 0 and .exit.tree == "running" and .process == "process-1" and .stdout == "done\n"' stdout
	no pgrep -u "$(id -u)" -fx 'sleep 6171'
	status 2 "$COVE" exec --descendants leave -- true
	says stderr "one of: kill, adopt"
}

@test "PROC-20: --session is passed on" {
	status 0 "$COVE" exec --session a -c 'cd / && export A=1 && echo "$A $PWD"'
	[ "$(cat stdout)" = "1 /" ]
	status 2 "$COVE" exec --session a -- true
	says stderr session
	status 2 "$COVE" exec --session ../a -c true
	says stderr session
}

@test "OUT-6: --max-output is the budget of each text" {
	status 0 "$COVE" exec --json --max-output 100 -c 'seq 1000; seq 1000 >&2'
	jq -e '(.stdout | utf8bytelength) <= 100 and (.stderr | utf8bytelength) <= 100 and .stdout_info.truncated
		and .stdout_info.bytes == 3893 and (.stdout | startswith("1\n")) and (.stdout | endswith("1000\n"))' stdout
	status 0 "$COVE" exec --json --max-output 1000000 -- seq 100000
	jq -e '.stdout_info.truncated == false and .stdout_info.bytes == 588895' stdout
	for value in 0 -1 x 1k 16777217 ''; do
		status 2 "$COVE" exec --json --max-output "$value" -- true
		says stderr max-output
	done
}

@test "OUT-8: --render shows what a terminal would" {
	status 0 "$COVE" exec --json --render -c 'printf "10%%\r50%%\r\033[32m100%%\033[0m\n"'
	jq -e '.stdout == "100%\n"' stdout
	status 0 "$COVE" exec --json -c 'printf "10%%\r50%%\n"'
	jq -e '.stdout == "10%\r50%\n"' stdout
}

@test "OUT-4: --spill puts large output into a file of the environment" {
	status 0 "$COVE" exec --env here --json --spill -- seq 100000
	jq -e '.stdout_info.spill_path | length > 0' stdout
	path=$(jq -r .stdout_info.spill_path stdout)
	[ ! -e "$path" ] # it went with the environment
	status 0 "$COVE" exec --env here --json --spill -- seq 10
	jq -e '.stdout_info | has("spill_path") | not' stdout
}

@test "cove exec: options that only the result knows need --json" {
	for option in --max-output=100 --render --spill; do
		status 2 "$COVE" exec --env here "$option" -- touch ran
		says stderr "add --json"
	done
	[ ! -e ran ]
}
