# What public headers declare, one record per line, in fields that a tab ends:
#   function PLACE NAME void|value PARAMETERS COMMENT     for each COVE_API function
#   struct   PLACE NAME COMMENT                           for each struct that is defined
#   field    PLACE STRUCT NAME COMMENT                    for each field of it
# PARAMETERS are names with a blank after each; COMMENT is the text of the comment that stands directly before
# (for a field: or beside it), empty when there is none.
BEGIN { OFS = "\t" }

# Deletes __attribute__((...)) and attribute macros from a declaration.
function plain(s,    start, i, depth, c) {
	while ((start = index(s, "__attribute__"))) {
		depth = 0
		for (i = start + 13; i <= length(s); i++) {
			c = substr(s, i, 1)
			depth += (c == "(") - (c == ")")
			if (c == ")" && !depth)
				break
		}
		s = substr(s, 1, start - 1) substr(s, i + 1)
	}
	gsub(/COVE_[A-Z_]+ *\([^()]*\)/, "", s)
	gsub(/COVE_[A-Z_]+ /, "", s)
	return s
}

# The names in a parameter list without its outer parentheses.
function names(list,    i, c, depth, one, all) {
	list = list ","
	for (i = 1; i <= length(list); i++) {
		c = substr(list, i, 1)
		depth += (c == "(") - (c == ")")
		if (c == "," && !depth) {
			all = all declared(one)
			one = ""
		} else {
			one = one c
		}
	}
	return all
}

# The name that a declarator declares, with a blank after it.
function declared(s) {
	if (match(s, /\( *\*+ *[a-z_0-9A-Z]+/)) {	# a function pointer
		s = substr(s, RSTART, RLENGTH)
	} else {
		gsub(/\[[^\]]*\]/, "", s)
		sub(/:.*/, "", s)
	}
	gsub(/[ \t]+$/, "", s)
	if (s ~ /^ *(void)?$/ || s ~ /\.\.\.$/)
		return ""
	sub(/.*[^a-zA-Z_0-9]/, "", s)
	return s " "
}

function emit_function(s, comment,    open, i, depth, c, head, name) {
	s = plain(s)
	open = index(s, "(")
	head = substr(s, 1, open - 1)
	gsub(/ +$/, "", head)
	name = head
	sub(/.*[^a-zA-Z_0-9]/, "", name)
	for (i = open; i <= length(s); i++) {
		c = substr(s, i, 1)
		depth += (c == "(") - (c == ")")
		if (!depth)
			break
	}
	print "function", place, name, head ~ /^ *void [a-z_0-9]+$/ ? "void" : "value", names(substr(s, open + 1, i - open - 1)), comment
}

# A complete declaration outside a struct.
function end_declaration() {
	gsub(/[ \t]+/, " ", declaration)
	if (declaration ~ /^ ?COVE_API / && declaration ~ /\(/)
		emit_function(declaration, declaration_comment)
	declaration = ""
}

function end_field() {
	gsub(/[ \t]+/, " ", field)
	sub(/ *;.*/, "", field)
	pending = "field" OFS field_place OFS current OFS declared(field) OFS field_comment
	pending_bare = field_comment == ""
	field = ""
}

function flush() {
	if (pending != "")
		print pending
	pending = ""
}

FNR == 1 { flush(); comment = declaration = field = current = ""; in_comment = depth = 0 }

# Takes comments out of the line; what remains is code.
{
	code = ""
	rest = $0
	while (rest != "") {
		if (in_comment) {
			end = index(rest, "*/")
			text = end ? substr(rest, 1, end - 1) : rest
			comment = comment " " text
			rest = end ? substr(rest, end + 2) : ""
			in_comment = !end
			if (end && beside) {
				if (beside == FNR)
					beside_text = comment
				else if (pending_bare)
					pending = pending comment
				comment = ""
				beside = 0
			}
		} else if ((start = index(rest, "/*"))) {
			code = code substr(rest, 1, start - 1)
			rest = substr(rest, start + 2)
			in_comment = 1
			comment = "/*"
			# The line of the field that the comment stands beside, -1 for the field before.
			beside = code ~ /[^ \t]/ ? FNR : rest ~ /^\*</ ? -1 : 0
		} else {
			sub(/\/\/.*/, "", rest)
			code = code rest
			rest = ""
		}
	}
}

code !~ /[^ \t]/ {
	if ($0 ~ /^[ \t]*$/ && !in_comment)
		comment = ""
	next
}
/^[ \t]*#/ || directive { directive = /\\$/; comment = ""; next }
code ~ /^extern "C"|^[A-Z_]+$/ { comment = ""; next }

current != "" && code ~ /^\}/ { flush(); current = ""; comment = ""; next }
current != "" {
	if (code ~ /[{}]/) {	# a nested struct: its fields are fields
		comment = ""
		next
	}
	if (field == "") {
		flush()
		field_comment = comment
		field_place = FILENAME ":" FNR
	}
	comment = ""
	field = field " " code
	if (code ~ /;/) {
		if (field_comment == "")
			field_comment = beside_text
		end_field()
	}
	beside_text = ""
	next
}
code ~ /^struct [a-z_0-9]+ \{[ \t]*$/ && declaration == "" {
	split(code, word, " ")
	current = word[2]
	print "struct", FILENAME ":" FNR, current, comment
	comment = ""
	next
}
{
	if (declaration == "") {
		declaration_comment = comment
		place = FILENAME ":" FNR
	}
	comment = ""
	declaration = declaration " " code
	depth += gsub(/\{/, "{", code) - gsub(/\}/, "}", code)
	if (!depth && code ~ /[;}][ \t]*$/)
		end_declaration()
}
END { flush() }
