#!/usr/bin/env bats
# cove run: jobs from the command line.
# shellcheck disable=SC2016,SC2030,SC2031,SC2094,SC2154 # scripts for another shell; a test is a subshell; $work

load helper

# Most commands here write where the test looks: outside.
setup_file() { export COVE_TEST_ENV=workspace; }

@test "JOB-3: failures of an earlier job are not lost without being asked" {
	echo '{"prompt":"a"}' >tasks.jsonl
	echo precious >out.jsonl.failures
	status 2 "$COVE" run tasks.jsonl --out out.jsonl --no-progress -- cat
	says stderr "out.jsonl.failures"
	[ "$(cat out.jsonl.failures)" = precious ]
	[ ! -e out.jsonl.partial ]
	status 0 "$COVE" run tasks.jsonl --out out.jsonl --no-progress --overwrite -- cat
	[ ! -e out.jsonl.failures ]
}

@test "JOB-2: one trace a run, in input order, whatever order they end in" {
	tasks 0.6 0.3 0
	status 0 "$COVE" run tasks.jsonl --out out.jsonl -j 3 -- sh -c 'read -r s || :; sleep "$COVE_PROMPT"; echo "slept $COVE_PROMPT"'
	[ "$(jq -r '.messages[1].content' out.jsonl)" = $'slept 0.6\n\nslept 0.3\n\nslept 0' ]
	[ "$(jq -r '.metadata.run_id' out.jsonl | xargs)" = "000001 000002 000003" ]
	[ ! -e out.jsonl.partial ]
	[ ! -e out.jsonl.failures ]
	says stderr "3 succeeded, 0 failed, 0 aborted"
}

@test "JOB-2: what a trace holds" {
	mkdir seed && echo data >seed/file
	echo '{"prompt":"hello","metadata":{"id":"x","n":[1,2.5,null]}}' >tasks.jsonl
	status 0 "$COVE" run tasks.jsonl --out out.jsonl --seed seed --job-id job-1 -o root="$work/runs" -- sh -c 'cat; cat file; echo oops >&2'
	jq -e --arg work "$work" '
		.messages == [{role: "user", content: "hello"}, {role: "assistant", content: "hellodata\n"}]
		and (.metadata | .schema_version == 1 and .job_id == "job-1" and .run_id == "000001" and .pipeline == "command"
			and .input == {line: 1, metadata: {id: "x", n: [1, 2.5, null]}}
			and (.created_at | test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$")) and .duration_ms >= 0
			and .environment == {type: "workspace", workspace: "\($work)/runs/job-1/000001", seed: "\($work)/seed"}
			and (.turns | length == 1 and (.[0] | .exit.phase == "exited" and .exit.code == 0 and .exit.tree == "clean"
				and .stdout_bytes == 10 and .stderr_bytes == 5 and .stderr == "oops\n" and .duration_ms >= 0)))' out.jsonl
}

@test "JOB-1: an array of prompts is several turns in one workspace" {
	echo '{"prompt":["one","two","three"]}' >tasks.jsonl
	status 0 "$COVE" run tasks.jsonl --out out.jsonl -- sh -c 'cat >>all; cat all'
	jq -e '[.messages[].content] == ["one", "one", "two", "onetwo", "three", "onetwothree"] and
		[.messages[].role] == ["user", "assistant", "user", "assistant", "user", "assistant"] and
		(.metadata.turns | length) == 3' out.jsonl
}

@test "JOB-4: a turn that fails ends its run" {
	echo '{"prompt":["one","bad","three"]}' >tasks.jsonl
	status 1 "$COVE" run tasks.jsonl --out out.jsonl --on-error continue -- sh -c 'cat; [ "$COVE_PROMPT" != bad ]'
	jq -e '[.messages[].content] == ["one", "one", "bad", "bad"] and .exit.code == 1 and
		(.error.message | startswith("turn 2:"))' out.jsonl.failures
	[ ! -s out.jsonl ]
}

@test "JOB-4: a failed run stops the job: siblings aborted, partial kept, nothing published" {
	tasks ok fail slow never
	status 1 "$COVE" run tasks.jsonl --out out.jsonl -j 2 -- \
		sh -c 'case $COVE_PROMPT in fail) sleep 0.3; exit 7;; slow|never) exec sleep 60;; esac'
	[ ! -e out.jsonl ]
	jq -e '.record == 1 and .trace.metadata.run_id == "000001"' out.jsonl.partial
	jq -e '.line == 2 and .exit.code == 7 and .outcome == "failure" and .attempts == 1 and (.workspace | type) == "string"' \
		out.jsonl.failures
	says stderr "run 000002 (line 2): 'sh' exited with 7"
	says stderr "1 succeeded, 1 failed, 2 aborted"
}

@test "JOB-4: --on-error continue publishes what succeeded" {
	tasks a fail b
	status 1 "$COVE" run tasks.jsonl --out out.jsonl --on-error continue -- sh -c '[ "$COVE_PROMPT" != fail ] || kill -9 $$'
	[ "$(jq -r '.messages[0].content' out.jsonl | xargs)" = "a b" ]
	jq -e '.input.prompt == "fail" and .exit.phase == "signaled" and .exit.signal == "KILL"' out.jsonl.failures
	says stderr "traces: out.jsonl; failures: out.jsonl.failures"
}

@test "JOB-4: a time limit fails the run and ends all of its processes" {
	tasks x
	status 1 "$COVE" run tasks.jsonl --out out.jsonl --run-timeout 500ms -- sh -c 'echo before; sleep 61 & setsid sleep 61 & wait'
	jq -e '.error.code == "timeout" and .exit.reason == "timeout" and .exit.tree == "clean" and
		.messages[1].content == "before\n"' out.jsonl.failures
	[ -z "$(survivors)" ]
}

@test "JOB-4: a command that does not exist fails the run and is named" {
	tasks x
	status 1 "$COVE" run tasks.jsonl --out out.jsonl -- no-such-program
	jq -e '.error.code == "not_found" and .exit == null and .messages == []' out.jsonl.failures
	says stderr no-such-program
}

@test "JOB-4: --retries gives a failed run a fresh workspace each time" {
	tasks x
	status 1 "$COVE" run tasks.jsonl --out out.jsonl --retries 2 --job-id j -o root="$work/runs" -- sh -c '[ ! -e seen ] && touch seen; exit 1'
	jq -e '.attempts == 3 and .run_id == "000001-a3" and (.workspace | endswith("/j/000001-a3"))' out.jsonl.failures
	[ "$(wc -l <out.jsonl.failures)" = 1 ]
	[ -e runs/j/000001/seen ]
	[ -e runs/j/000001-a2/seen ]
	[ -e runs/j/000001-a3/seen ]
}

@test "JOB-4: a retry that succeeds is a success" {
	tasks x
	status 0 "$COVE" run tasks.jsonl --out out.jsonl --retries 3 -- sh -c "echo >>'$work/tries'; [ \$(wc -l <'$work/tries') = 2 ]"
	jq -e '.metadata.run_id == "000001-a2"' out.jsonl
	[ ! -e out.jsonl.failures ]
}

@test "JOB-4: no more than the asked-for runs at a time" {
	tasks 1 2 3 4 5 6
	mkdir now
	status 0 "$COVE" run tasks.jsonl --out out.jsonl -j 3 -- \
		sh -c "touch '$work/now/'\$\$; ls '$work/now' | wc -l; sleep 0.2; rm '$work/now/'\$\$"
	[ "$(jq -r '.messages[1].content | tonumber' out.jsonl | sort -n | tail -n 1)" -le 3 ]
}

@test "JOB-1: a pipe is read as runs need it, and checked in flight" {
	{ echo '{"prompt":"a"}'; echo; echo '{"prompt":"b"}'; } >in
	status 0 "$COVE" run - --out out.jsonl -- cat <in
	[ "$(jq -c '[.metadata.run_id, .metadata.input.line]' out.jsonl | xargs)" = "[000001,1] [000002,3]" ]
	{ echo '{"prompt":"a"}'; sleep 1; echo '{"prompt":7}'; } | status 2 "$COVE" run - --out two.jsonl -- cat
	says stderr "/dev/stdin:2: 'prompt' is not a string"
	jq -e '.record == 1' two.jsonl.partial
}

@test "JOB-4: --limit and --shard choose records, and keep their numbers" {
	tasks 1 2 3 4 5 6 7
	status 0 "$COVE" run tasks.jsonl --out a --limit 2 -- cat
	[ "$(jq -r .metadata.run_id a | xargs)" = "000001 000002" ]
	status 0 "$COVE" run tasks.jsonl --out b --shard 2/3 -- cat
	[ "$(jq -r .metadata.run_id b | xargs)" = "000002 000005" ]
	status 2 "$COVE" run tasks.jsonl --out c --shard 4/3 -- cat
}

@test "JOB-3: --overwrite replaces the output only when the new one is complete" {
	tasks a
	echo old >out.jsonl
	status 2 "$COVE" run tasks.jsonl --out out.jsonl -- cat
	says stderr "--overwrite"
	status 1 "$COVE" run tasks.jsonl --out out.jsonl --overwrite -- false
	[ "$(cat out.jsonl)" = old ]
	status 0 "$COVE" run tasks.jsonl --out out.jsonl --overwrite -- cat
	jq -e '.messages[0].content == "a"' out.jsonl
	[ ! -e out.jsonl.partial ]
	[ ! -e out.jsonl.failures ]
}

@test "JOB-3: a job that is under way keeps its partial to itself" {
	tasks a
	"$COVE" run tasks.jsonl --out out.jsonl -- sleep 3 2>/dev/null 3>&- &
	eventually test -e out.jsonl.partial
	status 2 "$COVE" run tasks.jsonl --out out.jsonl --overwrite -- cat
	says stderr "in use"
	wait $!
	jq -e . out.jsonl >/dev/null
}

@test "JOB-8: the first interrupt aborts and cleans up" {
	tasks "done" a b c
	"$COVE" run tasks.jsonl --out out.jsonl -j 2 --retain never -o root="$work/runs" -- \
		sh -c '[ "$COVE_PROMPT" = done ] || { setsid sleep 61 & sleep 61; }' 2>stderr 3>&- &
	eventually grep -q . out.jsonl.partial
	kill -INT $!
	code=0 && wait $! || code=$?
	[ "$code" = 130 ]
	says stderr "1 succeeded, 0 failed, 3 aborted"
	[ ! -e out.jsonl ]
	jq -e '.record == 1' out.jsonl.partial
	[ -z "$(survivors)" ]
	[ -z "$(ls -A runs)" ]
}

@test "JOB-8: the second interrupt does not wait, and still nothing survives" {
	tasks a b
	"$COVE" run tasks.jsonl --out out.jsonl -j 2 -o root="$work/runs" -- \
		sh -c "trap '' TERM; touch '$work/up'; while :; do sleep 0.1; done" 2>stderr 3>&- &
	eventually test -e up
	kill -INT $!
	sleep 0.2
	kill -INT $! || :
	start=$SECONDS code=0
	wait $! || code=$?
	[ "$code" = 130 ]
	[ $((SECONDS - start)) -le 2 ]
	eventually no_survivors
}

@test "JOB-8: SIGTERM aborts too" {
	tasks a
	"$COVE" run tasks.jsonl --out out.jsonl -- sleep 61 2>stderr 3>&- &
	eventually test -e out.jsonl.partial
	kill -TERM $!
	code=0 && wait $! || code=$?
	[ "$code" = 130 ]
	says stderr "1 aborted"
}

@test "JOB-6: unset retention keeps failed and aborted workspaces only" {
	tasks ok fail
	status 1 "$COVE" run tasks.jsonl --out out.jsonl --on-error continue --job-id j -o root="$work/runs" -- sh -c '[ "$COVE_PROMPT" = ok ]'
	[ "$(ls runs/j)" = 000002 ]
	status 1 "$COVE" run tasks.jsonl --out two.jsonl --on-error continue --retain success --job-id k -o root="$work/runs" -- sh -c '[ "$COVE_PROMPT" = ok ]'
	[ "$(ls runs/k)" = 000001 ]
	jq -e '.workspace == null' two.jsonl.failures
	status 0 "$COVE" run tasks.jsonl --out three.jsonl --job-id l -o root="$work/runs" -- true
	[ ! -e runs/l ]
}

@test "JOB-14: each run has its own copy of the seed" {
	mkdir seed && echo 0 >seed/count
	tasks a b
	status 0 "$COVE" run tasks.jsonl --out out.jsonl --seed seed -- sh -c 'echo x >>count; wc -l <count'
	[ "$(jq -r '.messages[1].content' out.jsonl | xargs)" = "2 2" ]
	[ "$(cat seed/count)" = 0 ]
}

@test "JOB-14: an existing run directory is a conflict, and is left alone" {
	tasks a
	mkdir -p runs/j/000001
	chmod -R 700 runs
	echo mine >runs/j/000001/file
	status 2 "$COVE" run tasks.jsonl --out out.jsonl --job-id j -o root="$work/runs" -- cat
	jq -e '.error.code == "conflict" and .workspace == null' out.jsonl.failures
	[ "$(cat runs/j/000001/file)" = mine ]
}

@test "PROV-11: here works in the current directory, and takes no seed" {
	tasks a
	mkdir seed
	status 0 "$COVE" run tasks.jsonl --out out.jsonl --env current-directory -- pwd
	[ "$(jq -r '.messages[1].content' out.jsonl)" = "$work" ]
	jq -e '.metadata.environment | .type == "here" and .workspace == null' out.jsonl
	status 2 "$COVE" run tasks.jsonl --out two.jsonl --env here --seed seed -- pwd
	status 2 "$COVE" run tasks.jsonl --out two.jsonl --env here --retain always -- pwd
	[ ! -e two.jsonl ]
	[ ! -e two.jsonl.partial ]
}

@test "JOB-2: a prompt reaches stdin whole, and the variables where they are small enough" {
	jq -cn '{prompt: ("é" * 200000), metadata: {big: ("x" * 70000)}}, {prompt: "p", metadata: {a: {b: 1}}}, {prompt: "q"}' >tasks.jsonl
	status 0 "$COVE" run tasks.jsonl --out out.jsonl -- sh -c 'wc -c; echo "${COVE_PROMPT-none}"; echo "${COVE_METADATA-none}"'
	[ "$(jq -r '.messages[1].content' out.jsonl | xargs)" = "400000 none none 1 p {a:{b:1}} 1 q {}" ]
}

@test "JOB-2: output of any size and kind" {
	tasks x
	status 0 "$COVE" run tasks.jsonl --out out.jsonl -- sh -c "head -c 5000000 /dev/zero | tr '\\0' a; printf '\\377\\000end'; head -c 9000 /dev/zero | tr '\\0' b >&2"
	jq -e '(.messages[1].content | length) == 5000005 and (.messages[1].content | endswith("\ufffd\u0000end")) and
		(.metadata.turns[0] | .stdout_bytes == 5000005 and .stdout_lossy and .stderr_bytes == 9000 and (.stderr | length) == 4096)' out.jsonl
	jq -e '.metadata.turns[0] | has("stdout_truncated") | not' out.jsonl
}

@test "JOB-2: output beyond 16 MiB is cut, and the trace says so" {
	tasks x
	status 0 "$COVE" run tasks.jsonl --out out.jsonl -- sh -c "head -c 18000000 /dev/zero | tr '\\0' a"
	jq -e '(.messages[1].content | length) <= 16777216 and (.metadata.turns[0] | .stdout_bytes == 18000000 and .stdout_truncated)' out.jsonl
}

@test "ERR-4: secrets are redacted in traces and failures" {
	tasks 'use MY_TOKEN=abc123 now'
	status 0 "$COVE" run tasks.jsonl --out out.jsonl -- sh -c 'echo A_KEY=hidden; echo Bearer abcdef >&2'
	no grep -qE 'abc123|hidden|abcdef' out.jsonl
	status 1 "$COVE" run tasks.jsonl --out two.jsonl -- sh -c 'echo A_KEY=hidden; exit 1'
	no grep -qE 'abc123|hidden' two.jsonl.failures
	jq -e . out.jsonl two.jsonl.failures >/dev/null
}

@test "JOB-9: plain progress off a terminal, none with --no-progress" {
	tasks a b
	status 0 "$COVE" run tasks.jsonl --out out.jsonl -- cat
	says stderr "2/2 done, 0 failed"
	no grep -q $'\r' stderr
	status 0 "$COVE" run tasks.jsonl --out two.jsonl --no-progress -- cat
	[ "$(wc -l <stderr)" = 1 ]
}

@test "JOB-9: progress on a terminal is one line, drawn again" {
	command -v script
	tasks 0.3 0.3 0
	TERM=xterm script -qec "$COVE run tasks.jsonl --out out.jsonl -- sh -c 'sleep \$COVE_PROMPT'" log >/dev/null
	grep -q $'\r.*3/3 done, 0 failed, .*/s, .* left' log
	grep -q '3 succeeded' log
}

@test "JOB-10: what is not built yet says so" {
	tasks a
	status 3 "$COVE" run tasks.jsonl --out out.jsonl --resume -- cat
	says stderr hint
	status 3 "$COVE" run tasks.jsonl --out out.jsonl --agent chat -- cat
	status 3 "$COVE" run tasks.jsonl --out out.jsonl --config x.yaml -- cat
	status 3 "$COVE" run tasks.jsonl --out out.jsonl --retry-failed -- cat
	status 0 "$COVE" run tasks.jsonl --out out.jsonl --agent command -- cat
}

@test "JOB-3: no task is a job too" {
	: >tasks.jsonl
	status 0 "$COVE" run tasks.jsonl --out out.jsonl -- cat
	[ -e out.jsonl ]
	[ ! -s out.jsonl ]
}

@test "ENV-9: a cleanup that fails is told in the trace, and loses no result" {
	local as=()
	if [ "$(id -u)" = 0 ]; then # root may remove anything
		chmod 711 "$work"
		as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
		mkdir user
		chown 65534:65534 user
		cd user || return 1
	fi
	tasks x
	chmod a+r tasks.jsonl
	status 0 "${as[@]}" "$COVE" run tasks.jsonl --out out.jsonl --job-id j -o root="$PWD/runs" -- sh -c 'chmod 555 ..; echo done'
	chmod 755 runs/j
	jq -e '.messages[1].content == "done\n" and .metadata.cleanup == "failed" and (.metadata.cleanup_error | length > 0)' out.jsonl
	[ -d runs/j/000001 ]
}

@test "ERR-5: a guest that is killed fails its run, and the others go on" {
	tasks die b c
	"$COVE" run tasks.jsonl --out out.jsonl --on-error continue -o root="$work/runs" -- \
		sh -c '[ "$COVE_PROMPT" != die ] || { touch "$0/up"; sleep 61; }' "$work" 2>stderr 3>&- &
	eventually test -e up
	pkill -KILL -P $! -x cove-guest
	code=0 && wait $! || code=$?
	[ "$code" = 1 ]
	jq -e '.input.prompt == "die" and .error.code == "outcome_unknown" and .exit == null' out.jsonl.failures
	[ "$(jq -r '.messages[0].content' out.jsonl | xargs)" = "b c" ]
	no_survivors
}

@test "JOB-7: after kill -9 of cove nothing runs on, and what was completed is there" {
	tasks a b c
	"$COVE" run tasks.jsonl --out out.jsonl -j 2 -- sh -c '[ "$COVE_PROMPT" = a ] || { setsid sleep 61 & sleep 61; }' 2>stderr 3>&- &
	eventually grep -q . out.jsonl.partial
	kill -KILL $!
	wait $! || :
	eventually no_survivors
	jq -e '.record == 1' out.jsonl.partial
	[ ! -e out.jsonl ]
	status 0 "$COVE" run tasks.jsonl --out out.jsonl --overwrite -- cat
	[ "$(wc -l <out.jsonl)" = 3 ]
}
