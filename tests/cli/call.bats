#!/usr/bin/env bats
# cove call: operations by name.
# shellcheck disable=SC2016,SC2030,SC2031,SC2094,SC2154 # scripts for another shell; a test is a subshell; $work

load helper

@test "cove call: one operation, its result on stdout" {
	echo hello >file
	status 0 "$COVE" call --env here file.read_text '{"path":"file"}'
	jq -e '.text == "hello\n"' stdout
	status 0 "$COVE" call --env here env.ping
	jq -e 'type == "object"' stdout
	status 0 "$COVE" call --env here process.exec '{"argv":["sh","-c","echo hi; exit 3"]}'
	jq -e '.stdout == "hi\n" and .exit.code == 3' stdout
}

@test "ERR-1: an error is JSON on stderr, with the exit status of its code" {
	status 1 "$COVE" call --env here file.read_text '{"path":"nope"}'
	jq -e '.code == "not_found" and .path == "nope" and .operation == "file.read_text" and .retry == "never"' stderr
	[ ! -s stdout ]
	status 2 "$COVE" call --env here file.stat '{"path":"x","pth":1}'
	jq -e '.code == "invalid_argument" and .field == "pth"' stderr
	status 2 "$COVE" call --env here file.stat '{"path":'
	jq -e '.code == "invalid_argument"' stderr
	status 2 "$COVE" call --env here file.nonsense
	jq -e '.code == "invalid_argument"' stderr
	status 2 "$COVE" call --env nowhere env.ping
	says stderr workspace
	status 3 "$COVE" call --env docker:x env.ping
	jq -e '.code == "not_supported"' stderr
}

@test "cove call -: a line for each line, in order, and a bad one is answered too" {
	cat >in <<-'END'
		{"op":"process.exec","args":{"script":"echo 1"}}
		nonsense

		{"op":"env.ping"}
		{"op":"file.stat","args":{"path":"nope"}}
		{"op":"file.stat","args":7}
		{"args":{}}
		{"op":"env.ping","extra":1}
		{"op":"env.ping","op":"env.ping"}
		{"op":"process.exec","args":{"script":"echo 2"}}
	END
	printf '{"op":"env.ping"}' >>in
	status 0 "$COVE" call - <in
	[ "$(jq -r .ok stdout | xargs)" = "true false true false false false false false true true" ]
	[ "$(jq -r '.result.stdout // empty' stdout | xargs)" = "1 2" ]
	[ "$(jq -r '.error.code // empty' stdout | sort | uniq -c | xargs)" = "5 invalid_argument 1 not_found" ]
}

@test "cove call -: one environment for all lines" {
	status 0 "$COVE" call - <<-'END'
		{"op":"file.write_text","args":{"path":"f","text":"kept","mode":"create"}}
		{"op":"file.read_text","args":{"path":"f"}}
	END
	jq -se '.[1].result.text == "kept"' stdout
}

@test "cove call -: each answer comes before the next request is read" {
	coproc "$COVE" call --env here - 3>&-
	pid=$!
	for n in 1 2 3; do
		echo "{\"op\":\"process.exec\",\"args\":{\"script\":\"echo $n\"}}" >&"${COPROC[1]}"
		read -r -t 10 line <&"${COPROC[0]}"
		[ "$(jq -r .result.stdout <<<"$line")" = "$n" ]
	done
	in=${COPROC[1]}
	exec {in}>&-
	wait "$pid"
}

@test "ERR-2: a script of 2 MiB is refused before anything is sent, and the conversation goes on" {
	jq -cn '{op: "process.exec", args: {script: ("x" * 2097152)}}, {op: "env.ping"}' >in
	status 0 "$COVE" call - <in
	jq -se '.[0].error.code == "invalid_argument" and .[0].error.field == "script" and .[0].error.stage == "not_dispatched"
		and .[1].ok' stdout
}

@test "ERR-2: a line beyond the limit is answered and skipped" {
	{ head -c 20000000 /dev/zero | tr '\0' x; echo; echo '{"op":"env.ping"}'; } >in
	status 0 "$COVE" call - <in
	jq -se 'length == 2 and .[0].error.code == "too_large" and .[1].ok' stdout
}

@test "cove call -: a signal ends it, and what it runs" {
	mkfifo in
	"$COVE" call --env here - <in >stdout 3>&- &
	pid=$!
	exec 4>in
	echo '{"op":"process.exec","args":{"script":"touch up; sleep 6464"}}' >&4
	eventually test -e up
	kill -INT "$pid"
	code=0 && wait "$pid" || code=$?
	exec 4>&-
	[ "$code" = 130 ]
	no pgrep -fx 'sleep 6464'
}

@test "cove call -: a signal while it waits for a request ends it" {
	mkfifo in
	"$COVE" call --env here - <in >stdout 3>&- &
	pid=$!
	exec 4>in
	echo '{"op":"env.ping"}' >&4
	eventually test -s stdout
	kill -TERM "$pid"
	code=0 && wait "$pid" || code=$?
	exec 4>&-
	[ "$code" = 143 ]
}

@test "ERR-5: a guest that is killed under a call is an error, not a guess, and the next call says unavailable" {
	mkfifo in
	"$COVE" call --env here - <in >stdout 3>&- &
	pid=$!
	exec 4>in
	echo '{"op":"process.exec","args":{"script":"setsid sleep 6565 & touch up; sleep 6565"}}' >&4
	eventually test -e up
	pkill -KILL -P "$pid" -x cove-guest
	start=${EPOCHREALTIME/./}
	eventually test -s stdout
	[ $(((${EPOCHREALTIME/./} - start) / 1000)) -lt 1500 ]
	echo '{"op":"env.ping"}' >&4
	exec 4>&-
	wait "$pid"
	jq -se '.[0].error.code == "outcome_unknown" and .[0].error.retry == "reconcile_first" and .[1].error.code == "unavailable"' stdout
	eventually no pgrep -fx "sleep 6565"
}

@test "cove call: a wrong command line" {
	status 2 "$COVE" call
	status 2 "$COVE" call env.ping '{}' more
	status 2 "$COVE" call env.ping -- x
}
