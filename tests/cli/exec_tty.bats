#!/usr/bin/env bats
# cove exec --tty: a terminal for the command, and the caller's terminal as its screen and keyboard (PROC-17).
# script(1) gives a test a terminal of its own.
# shellcheck disable=SC2016,SC2030,SC2031,SC2094,SC2154 # scripts for another shell; a test is a subshell; $work

load helper

# Runs a shell script on a terminal; what it shows goes to `screen`, without carriage returns.
on_terminal() { # SCRIPT, stdin: keys
	timeout 30 script -qefc "$1" raw >raw.out
	local code=$?
	tr -d '\r' <raw.out >screen
	return "$code"
}

@test "PROC-17: stdin, stdout and stderr are one terminal, 24x80 where the caller has none" {
	status 5 "$COVE" exec --tty -c 'test -t 0 && test -t 1 && test -t 2 && stty size; echo err >&2; exit 5' </dev/null
	[ "$(tr -d '\r' <stdout)" = $'24 80\nerr' ]
	[ ! -s stderr ]
}

@test "PROC-17: the terminal has the size of the caller's" {
	on_terminal 'stty rows 33 cols 101; "$COVE" exec --tty -- stty size' </dev/null
	says screen "33 101"
}

@test "PROC-17: a change of the size follows, and the terminal is as before at the end" {
	cat >script.sh <<-'END'
		stty rows 33 cols 101
		before=$(stty -g)
		"$COVE" exec --tty -c 'trap "stty size; exit 3" WINCH; echo ready; while :; do sleep 0.05; done' </dev/tty >out &
		until grep -qs ready out; do sleep 0.05; done
		[ "$(stty -g)" != "$before" ] && echo raw
		stty rows 40 cols 120
		wait $! || echo "status $?"
		stty rows 33 cols 101
		[ "$(stty -g)" = "$before" ] && echo restored
	END
	on_terminal 'sh script.sh' </dev/null
	says screen raw
	says screen "status 3"
	says screen restored
	says out "40 120"
}

@test "cove exec --tty: the terminal is as before after every way out" {
	cat >script.sh <<-'END'
		check() { [ "$(stty -g)" = "$before" ] && echo "restored after $1"; }
		before=$(stty -g)
		"$COVE" exec --tty -- true </dev/tty
		check exit
		"$COVE" exec --tty -- no-such-program </dev/tty
		check error
		"$COVE" exec --tty --timeout 300ms -- sleep 6181 </dev/tty
		check timeout
		for signals in TERM HUP "TERM TERM" "INT INT"; do
			rm -f out
			"$COVE" exec --tty -c 'trap "" TERM; echo ready; sleep 6181; sleep 6181' </dev/tty >out &
			until grep -qs ready out; do sleep 0.05; done
			for signal in $signals; do
				kill -$signal $!
				sleep 0.2
			done
			wait $!
			echo "status $?"
			check "$signals"
		done
		"$COVE" exec --tty -c 'echo ready; sleep 6181' </dev/tty >out2 &
		until grep -qs ready out2; do sleep 0.05; done
		pkill -KILL -P $! -x cove-guest
		wait $!
		echo "status $?"
		check "the guest"
	END
	on_terminal 'sh script.sh' </dev/null
	for way in exit error timeout TERM HUP "TERM TERM" "INT INT" "the guest"; do
		says screen "restored after $way"
	done
	[ "$(grep ^status screen | xargs)" = "status 143 status 129 status 143 status 130 status 125" ]
	eventually no pgrep -u "$(id -u)" -fx 'sleep 6181'
}

@test "PROC-17: keys reach the command, its end of input too" {
	printf 'one\ntwo\n' | status 0 timeout 20 "$COVE" exec --tty -c 'stty -echo; echo ready; cat'
	[ "$(tr -d '\r' <stdout | grep -cxE 'one|two')" -ge 2 ]
	status 0 timeout 20 "$COVE" exec --tty -- cat </dev/null
}

@test "PROC-17: the end of input is seen in the middle of a line too" {
	printf 'no newline' | status 0 timeout 20 "$COVE" exec --tty -- cat
	says stdout "no newline"
}

@test "PROC-17: much that is typed arrives whole" {
	seq 20000 | status 0 timeout 60 "$COVE" exec --env here --tty -c 'cat >got'
	seq 20000 | cmp - got
}

@test "PROC-17: ^C goes to the command, not to cove" {
	{ eventually grep -qs ready raw; printf '\003'; sleep 0.5; } |
		on_terminal '"$COVE" exec --tty -c '"'"'trap "echo caught; exit 9" INT; echo ready; while :; do sleep 0.05; done'"'" || code=$?
	[ "$code" = 9 ]
	says screen caught
}

@test "cove exec --tty: exit status, time limit, an error of the command" {
	status 7 "$COVE" exec --tty -- sh -c 'exit 7' </dev/null
	status 137 "$COVE" exec --tty -c 'kill -9 $$' </dev/null
	status 124 "$COVE" exec --tty --timeout 300ms -- sleep 6182 </dev/null
	status 127 "$COVE" exec --tty -- no-such-program </dev/null
	says stderr no-such-program
	no pgrep -u "$(id -u)" -fx 'sleep 6182'
}

@test "PROC-8: what outlives a command on a terminal ends with the environment" {
	status 0 timeout 20 "$COVE" exec --tty -c 'trap "" HUP; sleep 6183 & echo done' </dev/null
	says stdout "done"
	no pgrep -u "$(id -u)" -fx 'sleep 6183'
}

@test "cove exec --tty: much output is shown whole, a closed stdout ends it" {
	"$COVE" exec --tty -- seq 300000 </dev/null | tr -d '\r' | cmp - <(seq 300000)
	"$COVE" exec --tty -- yes </dev/null | head -n 1 >out
	code=${PIPESTATUS[0]}
	[ "$code" = 141 ]
}

@test "cove exec --tty --json: the result of a command on a terminal" {
	echo hello | status 0 timeout 20 "$COVE" exec --tty --json -c 'stty -echo; read -r x; echo "got $x"; stty size'
	jq -e '(.output | contains("got hello\r\n24 80\r\n")) and (has("stdout") | not)' stdout
}

@test "cove exec --tty: what does not go with it is refused" {
	status 2 "$COVE" exec --tty --session a -c true
	says stderr "--tty"
	status 2 "$COVE" exec --tty --descendants adopt -- true
	status 2 "$COVE" exec --tty=yes -- true
}
