function drawLower() {
	const isFlame = $("show-flame").getAttribute("aria-pressed") === "true", { funcs, root } = sums();

	$("table").hidden = isFlame;
	$("flame").hidden = !isFlame;
	if (isFlame)
		drawFlame(root);
	else
		drawTable(isWhole() ? exactRows() : rangeRows(funcs));
	$("note").textContent = trace.shortest === 0 ? "" :
		(isWhole() && !isFlame ? "all calls; " : "") +
		`${trace.leftOut.toLocaleString("en")} calls shorter than ${timeText(trace.shortest)} are not drawn`;
}

let isPlanned = false, lowerTimer = 0;

function redraw() {
	if (!isPlanned) {
		isPlanned = true;
		requestAnimationFrame(() => { isPlanned = false; drawTimeline(); });
	}
	clearTimeout(lowerTimer);
	lowerTimer = setTimeout(drawLower, 120);
}
