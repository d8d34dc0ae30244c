#!/bin/sh
# Tests of the command.  usage: cli.sh PATH-OF-TALLY
tally=$1
failed=0

# is WHAT EXPECTED GOT
is() {
	[ "$2" = "$3" ] && return
	printf '%s: expected "%s", got "%s"\n' "$1" "$2" "$3" >&2
	failed=1
}

is 'counts of a pipe' '       2       3      14' "$(printf 'one two\nthree\n' | "$tally")"
is 'lines only' '       2' "$(printf 'a\nb\n' | "$tally" -l)"
is 'most frequent' '       2 x' "$(printf 'x 1\ny 2\nx 3\n' | "$tally" -f 1 -n 1)"
is 'own delimiter' '       1 b' "$(printf 'a:b:c\n' | "$tally" -f 2 -d :)"

"$tally" -f 0 </dev/null 2>/dev/null
is 'status of a wrong option' 2 $?
"$tally" /nonexistent 2>/dev/null
is 'status of a missing file' 1 $?

[ $failed -eq 0 ] && echo 'command tests passed'
exit $failed
