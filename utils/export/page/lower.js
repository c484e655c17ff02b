function drawLower() {
	const isFlame = $("show-flame").getAttribute("aria-pressed") === "true", isAll = isWhole();
	const { funcs, root } = isAll ? { root: whole } : sums();

	$("table").hidden = isFlame;
	$("flame").hidden = !isFlame;
	if (isFlame)
		drawFlame(root);
	else
		drawTable(isAll ? exactRows() : rangeRows(funcs));
	$("note").textContent = isAll || trace.grain === 0 ? "" :
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
