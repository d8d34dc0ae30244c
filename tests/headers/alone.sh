#!/bin/bash
# Each public header alone: as C99 and C++17, pedantic and without a warning; included twice; with an example that
# the build knows.  Prints TAP.
# Usage: alone.sh NAME... (the headers whose examples are built)
cd "$(dirname "$0")/../../include" || exit 2
headers=(cove/*.h)
number=0

check() { # NAME COMMAND...
	local name=$1 out
	shift
	number=$((number + 1))
	if out=$("$@" 2>&1); then
		echo "ok $number $name"
	else
		echo "not ok $number $name"
		printf '# %s\n' "${out//$'\n'/$'\n'# }"
	fi
}

compiles() { # COMPILER LANGUAGE STANDARD HEADER
	printf '#include <%s>\n#include <%s>\nint unused;\n' "$4" "$4" |
		"$1" -x "$2" "-std=$3" -pedantic -Wall -Wextra -Werror -I. -fsyntax-only -
}

has_example() { # HEADER NAME...
	local name=${1#cove/}
	shift
	awk -f ../tests/headers/example.awk "cove/$name" | grep -q '^int main(' && [[ " $* " == *" ${name%.h} "* ]]
}

echo "1..$((3 * ${#headers[@]}))"
for header in "${headers[@]}"; do
	check "$header as C99" compiles cc c c99 "$header"
	check "$header as C++17" compiles c++ c++ c++17 "$header"
	check "$header has an example that is built" has_example "$header" "$@"
done
