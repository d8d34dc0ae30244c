# Prints the program in the opening comment of a public header, as a file that the compiler takes.
/^ \* Example:$/ { in_example = 1; next }
in_example && /^ \*\// { exit }
in_example && /^ \*\t/ { print substr($0, 4); next }
in_example && /^ \*$/ { print ""; next }
in_example { exit }
