#!/usr/bin/env bats
# What a command changed, shown and applied: cove exec --diff and --apply (SBX-3).
# shellcheck disable=SC2016,SC2154 # scripts for another shell; $work

load helper

project() {
	mkdir project
	(cd project && seq 20 >numbers && echo keep >keep && echo gone >gone && mkdir sub old && echo 1 >old/f && ln -s keep link)
}

in_sandbox() { "$COVE" exec --env sandbox --seed project "$@"; }

@test "SBX-3: --diff prints what git applies, after the output; nothing reaches the seed" {
	project
	cp -a project copy
	in_sandbox --diff -c 'echo output; sed -i 3d numbers; rm gone; echo new >sub/n; ln -sfn numbers link' >said
	[ "$(head -n 1 said)" = output ]
	diff -r --no-dereference project copy
	tail -n +2 said | (cd copy && GIT_CEILING_DIRECTORIES=$work git apply)
	[ "$(readlink copy/link)" = numbers ] && [ -f copy/sub/n ] && [ ! -e copy/gone ]
	no grep -qx 3 copy/numbers
}

@test "SBX-3: --diff-to writes it to a file, also beside --json" {
	project
	in_sandbox --json --diff-to patch -c 'echo x >>keep' | jq -e '.exit.code == 0'
	grep -qx '+x' patch
	no in_sandbox --json --diff -c true
	no in_sandbox --diff-to no/such/dir -c true
}

@test "SBX-3: --apply writes everything back" {
	project
	in_sandbox --apply --yes --diff-to patch -c '
		sed -i 3d numbers; rm gone; echo new >sub/n; ln -sfn numbers link; chmod 755 keep
		rm -r old; echo file >old; rm -r sub/none 2>/dev/null; mkdir -p a/b; echo deep >a/b/c; chmod 600 a/b/c
		ln -s keep new-link' 2>said || { cat said; false; }
	grep -q '^cove: \([0-9]*\) of \1 changes were applied' said
	[ "$(cat project/old)" = file ] && [ "$(cat project/a/b/c)" = deep ] && [ "$(stat -c %a project/a/b/c)" = 600 ]
	[ ! -e project/gone ] && [ -x project/keep ] && [ "$(readlink project/link)" = numbers ] && [ -L project/new-link ]
	[ -z "$(find project -name '.cove-*')" ]
	[ "$(wc -l <project/numbers)" = 19 ]
}

@test "SBX-3: --apply leaves alone what was changed meanwhile, and says so" {
	project
	in_sandbox --apply --yes -c 'echo theirs >keep; echo theirs >fresh; echo more >>numbers; rm gone; echo ready; sleep 1' \
		>out 2>said &
	eventually grep -qs ready out
	echo mine >project/keep
	echo mine >project/fresh
	echo mine >project/gone
	no wait $!
	grep -q "'keep' was not applied: was changed meanwhile" said
	grep -q "'fresh' was not applied: was changed meanwhile" said
	grep -q "'gone' was not applied: was changed meanwhile" said
	grep -q '1 of 4 changes were applied' said
	[ "$(cat project/keep project/fresh project/gone)" = "$(printf 'mine\nmine\nmine')" ]
	[ "$(tail -n 1 project/numbers)" = more ]
}

@test "SBX-3: --apply after a failed command, without a seed, without a terminal" {
	project
	cp -a project copy
	run in_sandbox --apply --yes -c 'rm keep; exit 3'
	[ "$status" = 3 ]
	diff -r --no-dereference project copy
	run "$COVE" exec --env sandbox --bind project --apply --yes -- true
	[ "$status" = 2 ]
	run setsid "$COVE" exec --env sandbox --seed project --apply -- true
	[ "$status" = 2 ]
	run in_sandbox --yes -- true
	[ "$status" = 2 ]
}

@test "SBX-3: what can't be written is listed, and the rest is applied" {
	project
	mkdir project/full && echo 1 >project/full/f
	run in_sandbox --apply --yes -c 'echo 2 >full/f; echo 2 >keep; mkdir .git; echo x >.git/config; mkfifo pipe'
	[ "$status" = 125 ]
	[[ $output == *"'.git/config' was not applied"* && $output == *"'pipe' was not applied"* ]]
	[ "$(cat project/full/f)" = 2 ] && [ "$(cat project/keep)" = 2 ] && [ ! -e project/.git ]
}
