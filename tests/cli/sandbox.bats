#!/usr/bin/env bats
# The sandbox from the command line.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for another shell; a test is a subshell; $work

load helper

@test "SBX-2: without a name the current directory is seen, and not changed" {
	echo one >file
	status 0 "$COVE" exec -c 'cat file; echo two > file; echo new > other; cat file'
	[ "$(cat stdout)" = $'one\ntwo' ]
	[ "$(cat file)" = one ]
	[ ! -e other ]
}

@test "SBX-2: neither / nor the home directory is taken without being named" {
	HOME=$work/home/me
	mkdir -p "$HOME/project"
	for dir in / "$HOME" "$work/home"; do
		status 2 env -C "$dir" "$COVE" exec -- true
		says stderr "--seed or --bind"
	done
	status 0 env -C "$HOME/project" "$COVE" exec -- true
	status 0 "$COVE" exec --seed "$HOME" -- true
}

@test "SBX-1: --bind is the directory itself" {
	mkdir dir && echo one >dir/file
	status 0 "$COVE" exec --bind dir -c 'echo two > file; echo new > other'
	[ "$(cat dir/file)" = two ]
	[ "$(cat dir/other)" = new ]
	status 0 "$COVE" exec --bind dir -o access=ro -c 'cat file; ! echo x 2>/dev/null > file'
	[ "$(cat dir/file)" = two ]
	status 2 "$COVE" exec --bind dir --seed dir -- true
	status 2 "$COVE" exec --bind dir --env workspace -- true
}

@test "SBX-1: a policy opens more, and what it can't mean is refused before anything starts" {
	mkdir data && echo seen >data/file
	echo "{\"mounts\":[{\"source\":\"$work/data\",\"target\":\"/data\"}],\"env\":[\"SHOWN\"]}" >policy.json
	SHOWN=yes HIDDEN=no status 0 "$COVE" exec -o policy=policy.json -c 'cat /data/file; echo ${SHOWN-} ${HIDDEN-}'
	[ "$(cat stdout)" = $'seen\nyes' ]
	echo '{"mount":[]}' >policy.json
	status 2 "$COVE" exec -o policy=policy.json -- touch started
	says stderr mount
	echo '{"limits":{"memory_bytes":0}}' >policy.json
	status 2 "$COVE" exec -o policy=policy.json -- true
	status 125 "$COVE" exec -o policy=missing.json -- true
}

@test "JOB-6: runs in a sandbox: workspaces of failed runs stay, as plain directories" {
	mkdir seed && echo one >seed/file
	for n in 1 2 3; do echo "{\"prompt\":\"$n\"}"; done >tasks.jsonl
	status 1 "$COVE" run tasks.jsonl --out out.jsonl --seed seed --on-error continue -j 2 --no-progress \
		-o root="$work/runs" --job-id j -- sh -c 'echo "$COVE_PROMPT" >> file; rm -f gone; [ "$COVE_PROMPT" != 2 ]'
	[ "$(find runs -type f)" = runs/j/000002/file ]
	[ "$(cat runs/j/000002/file)" = $'one\n2' ]
	[ "$(cat seed/file)" = one ]
}

@test "PROV-8: what a run in a sandbox leaves behind is gone with it" {
	echo '{"prompt":"x"}' >tasks.jsonl
	status 0 "$COVE" run tasks.jsonl --out out.jsonl --no-progress -- sh -c 'setsid sleep 7171 & nohup sleep 7171 >/dev/null 2>&1 &'
	no pgrep -u "$(id -u)" -fx 'sleep 7171'
}

@test "ERR-5: cove is killed, and nothing of its sandbox lives on" {
	"$COVE" exec -c 'setsid sleep 7272 & sleep 7272' 3>&- &
	eventually pgrep -u "$(id -u)" -fx 'sleep 7272'
	kill -9 $!
	wait $! || :
	eventually no pgrep -u "$(id -u)" -fx 'sleep 7272'
}

@test "SBX-7: cove doctor tries what this machine can do" {
	status 0 "$COVE" doctor
	no grep -q ^missing stdout
	grep -q '^ok  *sandbox ' stdout
	status 0 "$COVE" doctor --json
	[ "$(jq -r '.[] | select(.label == "seccomp").state' stdout)" = ok ]
	status 2 "$COVE" doctor -- true
}
