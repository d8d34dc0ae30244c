# Prints FILE:LINE:TEXT for C files, without comments and without what string and character literals hold.
FNR == 1 { inside = 0 }
{
	text = ""
	rest = $0
	while (rest != "") {
		if (inside) {
			end = index(rest, "*/")
			inside = !end
			rest = end ? substr(rest, end + 2) : ""
		} else if (match(rest, /\/\*|\/\/|"([^"\\]|\\.)*"|'([^'\\]|\\.)*'/)) {
			token = substr(rest, RSTART, RLENGTH)
			text = text substr(rest, 1, RSTART - 1)
			rest = token == "//" ? "" : substr(rest, RSTART + RLENGTH)
			inside = token == "/*"
			if (token !~ /^\//)
				text = text substr(token, 1, 1) substr(token, 1, 1)
		} else {
			text = text rest
			rest = ""
		}
	}
	print FILENAME ":" FNR ":" text
}
