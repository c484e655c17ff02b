/* The tree and the rows of one side: of a trace and a range in it. */
function sideOf(of, range) {
	const isAll = isWholeRange(of, range), plain = view.by === "time" && view.zoom.length === 0;

	if (plain && !isAll) {
		const { funcs, root } = sums(of, range);
		return { trace: of, root, rows: rangeRows(funcs, of) };
	}
	const root = treeBy(view.by, of, range);
	return { trace: of, root, rows: plain ? exactRows(of) : treeRows(zoomed(root), of) };
}

function drawLower() {
	const isFlame = $("show-flame").getAttribute("aria-pressed") === "true", range = seen();

	$("table").hidden = isFlame;
	$("flame").hidden = !isFlame;
	const own = sideOf(trace, range), other = pinned ? sideOf(pinned.of, pinned) : null;
	if (isFlame)
		drawFlame(other ? pairTree([other, own]) : own.root, other !== null);
	else if (other)
		drawTable(pairRows(other.rows, own.rows), pairColumns(view.by), "pair");
	else
		drawTable(own.rows, columnsBy(view.by), view.by);
	$("selected").textContent = view.selected ? "selected: " + rangeText(trace, view.selected) : "";
	$("note").textContent = isWholeRange(trace, range) || trace.grain === 0 ? "" :
		`runs of calls shorter than ${timeText(trace.grain)} count as calls of the function with most of their time`;
	if (detail.text !== "")
		$("note").textContent += " " + detail.text;
	if (trace.textsLeftOut > 0 && !trace.served)
		$("note").textContent += ` arguments of ${trace.textsLeftOut.toLocaleString("en")} calls had no room`;
	if (trace.leftOut > 0)
		$("note").textContent += ` ${trace.leftOut.toLocaleString("en")} very deep calls are not drawn`;
}

let isPlanned = false, lowerTimer = 0;

function redraw() {
	if (!isPlanned) {
		isPlanned = true;
		requestAnimationFrame(() => { isPlanned = false; drawTimeline(); });
	}
	clearTimeout(lowerTimer);
	lowerTimer = setTimeout(() => { drawLower(); detailAsk(); }, 120);
}
