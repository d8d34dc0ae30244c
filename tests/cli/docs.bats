#!/usr/bin/env bats
# The documentation: what it shows is what happens, and what is generated is up to date.
# shellcheck disable=SC2016,SC2030,SC2031,SC2094,SC2154 # scripts for another shell; a test is a subshell; $work

load helper

# The sessions of a page, one file each in sessions/: NNN.sh, what is typed after "$ ", and NNN.want, what is shown.
# A command whose line ends with a backslash goes on in the next one.
sessions() { # PAGE
	mkdir -p sessions
	awk '
		/^```console$/ { inside = 1; typing = 0; next }
		/^```/ { inside = 0 }
		!inside { next }
		typing || /^\$ / {
			if (!typing) {
				name = sprintf("sessions/%03d", ++count)
				printf "" >(name ".want")
			}
			sub(/^\$ /, "")
			print >(name ".sh")
			typing = /\\$/
			next
		}
		{ print >(name ".want") }
	' "$1"
}

# The pages' commands are typed at the top of the repository; this is one that may be written to.
stand_in() {
	cp -R "$COVE_SOURCE/examples" .
	cp "$COVE_SOURCE/LICENSE" .
	mkdir build
	ln -s "$COVE" build/cove
}

# Types every command of a page and compares what is shown.
replay() { # PAGE
	local script count=0
	stand_in
	sessions "$1"
	for script in sessions/*.sh; do
		env -u MAKEFLAGS bash "$script" >got 2>&1 || true
		diff -u "${script%.sh}.want" got || { echo "from: $(cat "$script")" && return 1; }
		count=$((count + 1))
	done
	[ "$count" -gt 4 ]
}

# Every verb, those of a verb too: "files", "files read".
all_verbs() {
	local verb
	for verb in $("$COVE" --help | verbs_in | grep -vx help); do
		echo "$verb"
		"$COVE" "$verb" --help | verbs_in | sed "s/^/$verb /"
	done
}

verbs_in() { sed -nE '/^verbs:/,/^$/s/^  ([a-z]+) .*/\1/p'; }

# The options that the help of a verb lists, with their dashes.
options_of() { # VERB
	# shellcheck disable=SC2086 # of one or two words
	"$COVE" $1 --help | sed -n '/^options:/,/^$/p' | grep -oE '^ +(-[a-zA-Z0-9], )?--[a-z-]+' | grep -oE -- '--?[a-zA-Z0-9-]+'
}

@test "README.md: every command shown does what is shown" {
	replay "$COVE_SOURCE/README.md"
}

@test "docs/changes.md: every command shown does what is shown" {
	replay "$COVE_SOURCE/docs/changes.md"
}

@test "docs/cli.md: every command shown does what is shown" {
	replay "$COVE_SOURCE/docs/cli.md"
}

@test "docs/cli.md: has a section for every verb, and in it every option" {
	local verb option
	all_verbs >verbs
	grep -qx 'files read' verbs
	while read -r verb; do
		awk -v verb="$verb" '/^##+ cove / { inside = substr($0, index($0, "cove ")) == "cove " verb } inside' \
			"$COVE_SOURCE/docs/cli.md" >section
		[ -s section ] || { echo "no section: cove $verb" && return 1; }
		[ -n "$(options_of "$verb")" ]
		for option in $(options_of "$verb"); do
			grep -qE -- "^\| .*\`$option( [^\`]*)?\`" section || { echo "cove $verb: $option is not in its table" && return 1; }
		done
	done <verbs
}

@test "docs/cli.md: every option in it exists" {
	local verb option
	awk '/^## / { verb = $2 == "cove" ? $3 : "" } /^### cove files / { verb = $3 " " $4 }
		verb != "" && /^\| `-/ { print verb "|" $0 }' "$COVE_SOURCE/docs/cli.md" |
		while IFS='|' read -r verb _ option _; do
			options_of "$verb" >known
			for option in $(grep -oE -- '`--?[a-zA-Z0-9-]+' <<<"$option" | tr -d '`'); do
				grep -qxF -- "$option" known || { echo "cove $verb has no $option" && exit 1; }
			done
		done
}

@test "docs/operations.md is up to date" {
	"$COVE_SOURCE/tools/gen-operations" --check
}

@test "docs/contract.md is up to date" {
	"$COVE_SOURCE/tools/gen-contract" --check
}

@test "the pages' links lead somewhere" {
	local page target
	cd "$COVE_SOURCE" || return 1
	for page in README.md HACKING.md docs/*.md docs/decisions/*.md; do
		grep -oE '\]\([^)#]+' "$page" | cut -c 3- | grep -v :// >"$work/targets" || continue
		while read -r target; do
			[ -e "$(dirname "$page")/$target" ] || { echo "$page: '$target' does not exist" && return 1; }
		done <"$work/targets"
	done
}

@test "README.md: the program of the C API is that of cove.h, and runs against the release build" {
	awk '/^```c$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$COVE_SOURCE/README.md" >hello.c
	sed -n '/^ \*\t#include/,/^ \*\t}$/s/^ \*\t\{0,1\}//p' "$COVE_SOURCE/include/cove/cove.h" | diff -u hello.c -
	cc -I"$COVE_SOURCE/include" hello.c -L"$COVE_SOURCE/build" -lcove -Wl,-rpath,"$COVE_SOURCE/build" -o hello
	./hello >got
	echo hello | diff - got
}

@test "docs/sandbox.md: every command shown does what is shown" {
	replay "$COVE_SOURCE/docs/sandbox.md"
}

@test "docs/processes.md: every command shown does what is shown" {
	replay "$COVE_SOURCE/docs/processes.md"
}
