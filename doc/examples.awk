# SPDX-License-Identifier: MIT
#
# Print the first examples of manual pages as rows of a C table: { COMMAND, TEXT or NULL, LINES }.
# An example is a paragraph of .TP, its text and its lines; outside of one, a line of a listing.

function plain(line)
{
	gsub(/\\f[BIRP]/, "", line)
	gsub(/\\\(aq/, "'", line)
	gsub(/\\\(l?r?q/, "\"", line)
	gsub(/\\-/, "-", line)
	gsub(/\\e/, "\\", line)
	return line
}

function quoted(line)
{
	gsub(/\\/, "\\\\", line)
	gsub(/"/, "\\\"", line)
	gsub(/\n/, "\\n", line)
	return "\"" line "\""
}

function put()
{
	if (lines != "" && ++nr <= LIMIT)
		printf "{ %s, %s, %s },\n", quoted(command), text == "" ? "NULL" : quoted(text), quoted(lines)
	text = lines = ""
}

function add(line)
{
	lines = lines (lines == "" ? "" : "\n") plain(line)
}

FNR == 1 {
	command = FILENAME
	sub(/.*\//, "", command)
	sub(/^ftr-?/, "", command)
	sub(/\.1$/, "", command)
	nr = 0
}
/^\.SH / {
	put()
	is_example = $2 ~ /^EXAMPLES?$/
	is_paragraph = is_literal = 0
	next
}
!is_example { next }
/^\.TP/ { put(); is_paragraph = 1; next }
/^\.PP/ { put(); is_paragraph = 0; next }
/^\.nf/ { is_literal = 1; next }
/^\.fi/ { is_literal = 0; next }
/^\.B / { add(substr($0, 4)); next }
is_literal {
	add($0)
	if (!is_paragraph)
		put()
	next
}
{
	text = text (text == "" ? "" : " ") plain($0)
	sub(/:$/, "", text)
}
END { put() }
