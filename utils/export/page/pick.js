/* ---- what is clicked ---- */

function callersOf(span, of = trace) {
	const names = [];

	for (let depth = span.depth - 1; depth >= 0; depth--) {
		const row = span.task.rows[depth], i = firstBehind(row, span.start);
		if (i < row.nr && row.start[i] <= span.start && row.end[i] >= span.end)
			names.push(nameOf(row.func[i], of));
	}
	return names;
}

/* @known: its arguments and return value as a text, and where it is, if that was asked for. */
function callText(span, known, of = trace) {
	const own = span.func > 0 && of.places[span.func - 1], place = known.place || (own ? own.join(":") : "");

	return (span.isRun || !known.text ? spanText(span, of) : `${nameOf(span.func, of)}${known.text}  ${timeText(span.ns)}`) +
		` at ${timeText(span.start)} in ${span.task.name} ${span.task.tid}` + (place ? ` (${place})` : "") +
		callersOf(span, of).map(name => " ← " + name).join("");
}

const inPage = (span, of = trace) => ({ text: span.text > 0 ? of.texts[span.text - 1] : "" });

/* @says: the text of details around that of the call. */
function pickCall(span, says) {
	view.picked = span;
	$("details").textContent = says(callText(span, inPage(span)));
	callAsk(span).then(known => {
		if (known && view.picked === span)
			$("details").textContent = says(callText(span, {
				text: known.args + (known.retval ? " = " + known.retval : ""), place: known.place,
			}));
	}, error => {
		if (view.picked === span)
			$("details").textContent += "  " + error.message;
	});
}

function pick(span) {
	if (span && !span.kind) {
		pickCall(span, text => text);
	} else {
		view.picked = span;
		$("details").textContent = span ? thingText(span) : "";
	}
	redraw();
}

/* The longest call of a function in a range; where @callers are given, innermost first, by these alone. */
function longestCall(of, range, name, callers) {
	const func = of.funcs.findIndex(func => func && func[0] === name) + 1, by = callers && callers.join("\n");
	let longest = null;

	for (const { rows } of func > 0 ? of.tasks : [])
		for (const row of rows)
			for (let i = firstBehind(row, range.start); i < row.nr && row.start[i] < range.end; i++) {
				if (row.func[i] !== func || row.isRun[i] === 1 || (longest && nsOf(row, i) <= longest.ns))
					continue;
				const span = spanOf(row, i);
				if (!callers || callersOf(span, of).join("\n") === by)
					longest = span;
			}
	return longest;
}

/* A function of the table, or a call of the flame graph: its longest call, in both where two are compared. */
function pickFunc(name, callers = null) {
	const own = longestCall(trace, seen(), name, callers), none = "no call drawn by itself";
	let before = "longest: ";

	if (pinned) {
		const other = longestCall(pinned.of, pinned, name, callers);
		before = "longest of A: " + (other ? callText(other, inPage(other, pinned.of), pinned.of) : none) + "\nlongest of B: ";
	}
	if (own) {
		pickCall(own, text => before + text);
	} else {
		view.picked = null;
		$("details").textContent = before + none;
	}
	redraw();
}
