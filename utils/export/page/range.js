/* ---- what is looked at ---- */

const lengthOf = of => Math.max(of.ns, 1);
const view = {
	start: 0, end: lengthOf(trace), selected: null, top: 0, wanted: "", picked: null, by: "time", zoom: [],
	sorts: {},
};

/* Browsers refuse addresses that change too often. */
let addressTimer = 0;

function addressLater() {
	clearTimeout(addressTimer);
	addressTimer = setTimeout(() => {
		const range = of => `${Math.round(of.start)}-${Math.round(of.end)}`;
		history.replaceState(null, "", "#" + range(view) + (view.selected ? "," + range(view.selected) : "") +
			(traces.length > 1 ? "@" + traces.indexOf(trace) : ""));
	}, 150);
}

function viewSet(start, end) {
	const least = 20, whole = lengthOf(trace);
	let length = Math.min(Math.max(end - start, least), whole * 1.02);

	start = Math.min(Math.max(start, -whole * 0.01), whole * 1.01 - length);
	view.start = start;
	view.end = start + length;
	addressLater();
	redraw();
}

/* Of the trace that is shown; null: nothing is. */
function select(range) {
	view.selected = range;
	addressLater();
	redraw();
}

/* "#BEGIN-END,BEGIN-END@TRACE": what is in view, what is selected, and of two traces which one. */
function viewFromFragment() {
	const found = /^#(-?\d+)-(\d+)(?:,(-?\d+)-(\d+))?(?:@([01]))?$/.exec(location.hash);

	if (found && found[5] && traces[+found[5]])
		showTrace(traces[+found[5]]);
	view.selected = found && +found[4] > +found[3] ? { start: +found[3], end: +found[4] } : null;
	if (found && +found[2] > +found[1])
		viewSet(+found[1], +found[2]);
	else
		viewSet(0, lengthOf(trace));
}
