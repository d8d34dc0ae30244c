#!/usr/bin/env bats
# What is wrong is said, with the right exit status, and leaves nothing behind.
# shellcheck disable=SC2016,SC2030,SC2031,SC2094,SC2154 # scripts for another shell; a test is a subshell; $work

load helper

# Nothing was created beside what the test made itself.
untouched() {
	[ ! -e out.jsonl ]
	[ ! -e out.jsonl.partial ]
	[ ! -e out.jsonl.failures ]
	[ ! -e state ]
}

@test "JOB-1: a task file that is missing or can't be read" {
	status 2 "$COVE" run nope.jsonl --out out.jsonl -- cat
	says stderr "$work/nope.jsonl"
	mkdir dir
	status 2 "$COVE" run dir --out out.jsonl -- cat
	tasks a
	if [ "$(id -u)" != 0 ]; then
		chmod 000 tasks.jsonl
		status 2 "$COVE" run tasks.jsonl --out out.jsonl -- cat
		says stderr "$work/tasks.jsonl"
	fi
	status 2 "$COVE" run tasks.jsonl/x --out out.jsonl -- cat
	untouched
}

@test "JOB-1: bad JSON on line 3 is refused with path and line before anything runs" {
	printf '{"prompt":"a"}\n\n{"prompt":\n' >tasks.jsonl
	status 2 "$COVE" run tasks.jsonl --out out.jsonl --env here -- touch ran
	says stderr "$work/tasks.jsonl:3: "
	[ ! -e ran ]
	untouched
}

@test "JOB-1: unknown and doubled keys, bad types and blank prompts" {
	while IFS='|' read -r line why; do
		printf '{"prompt":"good"}\n%s\n' "$line" >tasks.jsonl
		status 2 "$COVE" run tasks.jsonl --out out.jsonl -- cat
		says stderr "$work/tasks.jsonl:2: "
		says stderr "$why"
	done <<-'END'
		{"prompt":"a","promt":1}|'promt' is an unknown key
		{"prompt":"a","prompt":"b"}|duplicate
		{"prompt":["a",1]}|'prompt[1]' is not a string
		{"prompt":" "}|'prompt' is blank
		{"metadata":{}}|'prompt' is missing
		{"prompt":"a","metadata":"x"}|'metadata' is not an object
		"a"|JSON
	END
	untouched
}

@test "JOB-3: an existing output or partial is a conflict with a hint" {
	tasks a
	echo mine >out.jsonl
	status 2 "$COVE" run tasks.jsonl --out out.jsonl -- cat
	says stderr "out.jsonl' already exists"
	says stderr "  hint: --overwrite"
	[ "$(cat out.jsonl)" = mine ]
	rm out.jsonl
	echo mine >out.jsonl.partial
	status 2 "$COVE" run tasks.jsonl --out out.jsonl -- cat
	says stderr "--overwrite"
	[ "$(cat out.jsonl.partial)" = mine ]
}

@test "JOB-3: an output that can't be created" {
	tasks a
	status 2 "$COVE" run tasks.jsonl --out tasks.jsonl/out -- cat
	says stderr tasks.jsonl/out
	status 2 "$COVE" run tasks.jsonl --out nope/out -- cat
	says stderr nope/out
	mkdir dir
	status 2 "$COVE" run tasks.jsonl --out dir -- cat
	status 2 "$COVE" run tasks.jsonl --out /dev/null --overwrite -- cat
	status 2 "$COVE" run tasks.jsonl --out tasks.jsonl --overwrite -- cat
	jq -e '.prompt == "a"' tasks.jsonl
	if [ "$(id -u)" != 0 ]; then
		chmod 555 dir
		status 2 "$COVE" run tasks.jsonl --out dir/out -- cat
		says stderr dir/out
	fi
	untouched
}

@test "JOB-3: an output directory on a read-only file system" {
	tasks a
	mkdir dir
	if can_mount; then
		status 2 unshare -rm sh -c 'mount --bind dir dir && mount -o remount,bind,ro dir &&
			exec "$COVE" run tasks.jsonl --out dir/out -- cat'
		says stderr dir/out
		says stderr Read-only
	fi
	[ -z "$(ls -A dir)" ]
}

@test "CASE-66: on a full disk nothing is torn, nothing published, and the failure says why" {
	tasks a b c d e f g h
	mkdir disk
	cat >script <<-'END'
		"$COVE" run tasks.jsonl --out disk/out --job-id j -o root="$PWD/runs" -- sh -c 'head -c 20000 /dev/zero | tr "\0" x'
		code=$?
		cp disk/out.partial partial
		[ ! -e disk/out ]
		exit $code
	END
	if can_mount; then
		status 1 unshare -rm sh -c 'mount -t tmpfs -o size=64k none disk && . ./script'
		says stderr "No space left"
	else
		status 1 bash -c 'ulimit -f 64 && . ./script'
	fi
	jq -e . partial >/dev/null
	[ "$(wc -l <partial)" = "$(grep -c '^{"record":.*}$' partial)" ]
	[ "$(wc -l <partial)" -ge 1 ]
}

@test "JOB-14: a seed that is a file, or is not there" {
	tasks a
	echo x >file
	status 2 "$COVE" run tasks.jsonl --out out.jsonl --seed file -- cat
	says stderr "$work/file"
	status 2 "$COVE" run tasks.jsonl --out out.jsonl --seed nope -- cat
	says stderr "$work/nope"
	untouched
}

@test "JOB-5: an id that is a path is refused" {
	tasks a
	for id in ../x x/y . -x "$(head -c 129 /dev/zero | tr '\0' a)"; do
		status 2 "$COVE" run tasks.jsonl --out out.jsonl --job-id="$id" -- cat
		says stderr job_id
	done
	untouched
}

@test "JOB-10: an unknown environment is 2 and lists the known, one that is not built is 3" {
	tasks a
	status 2 "$COVE" run tasks.jsonl --out out.jsonl --env nowhere -- cat
	says stderr here
	says stderr workspace
	status 3 "$COVE" run tasks.jsonl --out out.jsonl --env docker:debian -- cat
	status 3 "$COVE" run tasks.jsonl --out out.jsonl --env ssh:host -- cat
	untouched
}

@test "ERR-2: an unknown option of the environment is refused" {
	tasks a
	status 2 "$COVE" run tasks.jsonl --out out.jsonl -o nonsense=1 -- cat
	says stderr nonsense
	status 2 "$COVE" exec -o root -- true
	untouched
}

@test "ERR-2: a wrong command line says what is missing or wrong" {
	tasks a
	status 2 "$COVE" run --out out.jsonl -- cat
	says stderr TASKS
	status 2 "$COVE" run tasks.jsonl -- cat
	says stderr --out
	status 2 "$COVE" run tasks.jsonl --out out.jsonl
	says stderr COMMAND
	status 2 "$COVE" run tasks.jsonl --out out.jsonl --nonsense -- cat
	says stderr "'--nonsense'"
	status 2 "$COVE" run tasks.jsonl more --out out.jsonl -- cat
	says stderr "'more'"
	for bad in "-j 0" "-j 257" "-j x" "--retries -1" "--limit 0" "--on-error maybe" "--run-timeout 5" "--shard 0/2" \
		"--retain sometimes" "--run-timeout 99999999h"; do
		# shellcheck disable=SC2086 # two words
		status 2 "$COVE" run tasks.jsonl --out out.jsonl $bad -- cat
		says stderr hint
	done
	untouched
}
