#!/usr/bin/env bats
# cove files find and grep, beside fd and rg.
# shellcheck disable=SC2016,SC2030,SC2031,SC2094,SC2154 # scripts for another shell; a test is a subshell; $work

load helper

tree() {
	mkdir -p tree/src/deep tree/build tree/.git/info tree/.github
	printf 'int needle;\n\nint other;\nneedle again\nlast\n' >tree/src/a.c
	printf 'nothing\n' >tree/src/deep/b.h
	printf 'NEEDLE \303\211\n' >tree/src/deep/c.c
	printf 'needle\n' >tree/build/out.c
	printf 'needle\n' >tree/.github/w.yml
	printf 'needle\0' >tree/src/binary
	printf '/build/\n' >tree/.gitignore
}

@test "FILE-10, FILE-11: cove files find: what fd finds" {
	tree
	status 0 "$COVE" files find --bind tree '*.c'
	[ "$(cat stdout)" = $'src/a.c\nsrc/deep/c.c' ]
	status 0 "$COVE" files find --bind tree '**/*.{c,h}' src
	(cd tree && fdfind --glob '*.{c,h}' src ) | LC_ALL=C sort | diff stdout -
	status 0 "$COVE" files find --bind tree -I '*.c'
	(cd tree && fdfind -I --glob '*.c' ) | LC_ALL=C sort | diff stdout -
	status 0 "$COVE" files find --bind tree '.github/*'
	[ "$(cat stdout)" = .github/w.yml ]
	status 0 "$COVE" files find --bind tree -H -t directory '*'
	[ "$(cat stdout)" = $'.github\nsrc\nsrc/deep' ]
	status 0 "$COVE" files find --bind tree --no-recurse -t file,directory '*'
	[ "$(cat stdout)" = src ]
	status 0 "$COVE" files find --bind tree -0 --max-results 1 '*.c' src/deep src
	[ "$(tr '\0' : <stdout)" = src/deep/c.c: ]
	status 0 "$COVE" files find --bind tree --json a.c
	[ "$(jq -c '[.path,.kind,.size]' <stdout)" = '["src/a.c","file",42]' ]
	status 0 "$COVE" files find --bind tree nope
	[ ! -s stdout ]
	status 2 "$COVE" files find --bind tree 'x**y'
	says stderr "pattern"
	status 1 "$COVE" files find --bind tree '*' missing
	status 2 "$COVE" files find --bind tree
	status 2 "$COVE" files find --bind tree -t door '*'
}

@test "FILE-13: cove files grep: what rg finds" {
	tree
	for args in 'needle' '-n needle' '-i needle' '-F needle' '-n -C1 needle' '-n -C 2 int' '-l needle' \
		'-m1 -n needle' '--no-ignore -n needle' '--hidden needle' '-n -i n\w+.\303\251' '-n ^$' '-g *.h -n .'; do
		# shellcheck disable=SC2046,SC2059 # words
		status 0 "$COVE" files grep --bind tree $(printf -- "$args") .
		# shellcheck disable=SC2046,SC2059
		(cd tree && rg --no-config --no-heading --color=never --sort path --no-messages $(printf -- "$args") ./) |
			sed 's,^\./,,' >want || true
		grep -v 'binary file matches' want | diff stdout - || { echo "with $args"; false; }
	done
	status 0 "$COVE" files grep --bind tree needle src/a.c
	[ "$(cat stdout)" = $'int needle;\nneedle again' ]
	status 0 "$COVE" files grep --bind tree needle build/out.c src
	[ "$(head -n 1 stdout)" = build/out.c:needle ]
}

@test "FILE-13: cove files grep: status, JSON, colours, pages" {
	tree
	status 1 "$COVE" files grep --bind tree absent
	[ ! -s stdout ]
	status 2 "$COVE" files grep --bind tree 'a(b'
	says stderr 'at byte 3'
	status 2 "$COVE" files grep --bind tree needle missing
	status 2 "$COVE" files grep --bind tree needle missing src
	says stdout needle
	status 2 "$COVE" files grep --bind tree ''
	status 2 "$COVE" files grep --bind tree
	status 2 "$COVE" files grep --bind tree -g '!*.c' needle
	says stderr exclude
	status 0 "$COVE" files grep --bind tree --json -C1 again
	[ "$(jq -c '[.path,.line,.text,.context_start,.context]' <stdout)" = \
		'["src/a.c",4,"needle again",3,"int other;\nneedle again\nlast"]' ]
	status 0 "$COVE" files grep --bind tree --color always -n -F again
	[ "$(cat stdout)" = $'\e[35msrc/a.c\e[0m:\e[32m4\e[0m:needle \e[1;31magain\e[0m' ]
	seq 50000 >tree/src/many
	status 0 "$COVE" files grep --bind tree -C1 1 src/many
	grep -C1 1 tree/src/many | diff stdout -
	status 0 "$COVE" files grep --bind tree -n -g '*.c' -g many '[0-9]$' src
	grep -n . tree/src/many | sed 's,^,src/many:,' | diff stdout -
	[ "$("$COVE" files grep --bind tree -n . src/many | head -n 1)" = 1:1 ]
}
