#!/usr/bin/env bats
# cove providers: what there is.
# shellcheck disable=SC2016,SC2030,SC2031,SC2094,SC2154 # scripts for another shell; a test is a subshell; $work

load helper

@test "PROV-1: providers are listed once, with whether they are available" {
	status 0 "$COVE" providers
	grep -qE '^here +available' stdout
	grep -qE '^workspace +available' stdout
	[ -z "$(cut -d ' ' -f 1 stdout | sort | uniq -d)" ]
}

@test "PROV-1: --json is an array of rows" {
	status 0 "$COVE" providers --json
	jq -e 'all(.[]; (.name | test("^[a-z0-9_]+$")) and (.available | type == "boolean") and (.description | length > 0))
		and ([.[] | select(.available).name] | contains(["here", "workspace"]))
		and all(.[] | select(.available | not); .detail | type == "string")' stdout
}

@test "PROV-1: every available provider runs a command" {
	for name in $("$COVE" providers --json | jq -r '.[] | select(.available).name'); do
		status 0 "$COVE" exec --env "$name" -- true
	done
}

@test "cove providers: a wrong command line" {
	status 2 "$COVE" providers extra
	status 2 "$COVE" providers -- x
}
