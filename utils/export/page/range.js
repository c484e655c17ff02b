/* ---- what is looked at ---- */

const view = { start: 0, end: Math.max(trace.ns, 1), top: 0, wanted: "", picked: null, sort: 2, down: true };

function viewSet(start, end) {
	const least = 20, whole = Math.max(trace.ns, 1);
	let length = Math.min(Math.max(end - start, least), whole * 1.02);

	start = Math.min(Math.max(start, -whole * 0.01), whole * 1.01 - length);
	view.start = start;
	view.end = start + length;
	history.replaceState(null, "", "#" + Math.round(view.start) + "-" + Math.round(view.end));
	redraw();
}

function viewFromFragment() {
	const found = /^#(-?\d+)-(\d+)$/.exec(location.hash);

	if (found && +found[2] > +found[1])
		viewSet(+found[1], +found[2]);
	else
		viewSet(0, Math.max(trace.ns, 1));
}
