/* ---- timeline ---- */

const wantedByFunc = new Map();

function isHit(func) {
	if (!wantedByFunc.has(func))
		wantedByFunc.set(func, isFound(nameOf(func)));
	return wantedByFunc.get(func);
}

const IDLE = "#8886";

function colourOf(func) {
	if (func === NOT_RUNNING)
		return IDLE;
	const hash = hashOf(nameOf(func));
	return `hsl(${hash % 360} ${45 + (hash >>> 12) % 25}% ${58 + (hash >>> 20) % 16}%)`;
}
const colours = new Map();
const colour = func => colours.get(func) || colours.set(func, colourOf(func)).get(func);

function fit(canvas) {
	const box = canvas.parentNode, ratio = window.devicePixelRatio || 1;
	const width = box.clientWidth, height = box.clientHeight;

	canvas.width = width * ratio;
	canvas.height = height * ratio;
	canvas.style.width = width + "px";
	canvas.style.height = height + "px";
	const pen = canvas.getContext("2d");
	pen.setTransform(ratio, 0, 0, ratio, 0, 0);
	pen.font = "12px sans-serif";
	pen.textBaseline = "middle";
	return { pen, width, height };
}

const css = name => getComputedStyle(document.documentElement).getPropertyValue(name);

function drawBox(pen, x, y, width, text, fill, isMarked) {
	pen.fillStyle = fill;
	pen.fillRect(x, y, Math.max(width - 0.5, 0.7), ROW - 1);
	if (isMarked) {
		pen.strokeStyle = css("--hit");
		pen.lineWidth = 2;
		pen.strokeRect(x + 1, y + 1, Math.max(width - 2.5, 0.5), ROW - 3);
	}
	if (width > 30) {
		pen.save();
		pen.beginPath();
		pen.rect(x, y, width - 3, ROW);
		pen.clip();
		pen.fillStyle = fill === IDLE ? css("--dim") : "#111";
		pen.fillText(text, Math.max(x, 0) + 3, y + ROW / 2);
		pen.restore();
	}
}

/* A pixel is drawn once, but what is looked for is drawn wherever it is. */
function drawRow(pen, row, y, width, scale) {
	const isSearched = view.wanted !== "" || view.picked !== null;
	let covered = view.start;

	for (let i = firstBehind(row, covered); i < row.nr && row.start[i] < view.end;) {
		const func = row.func[i], marked = isSearched && (isHit(func) || isSpan(view.picked, row, i));
		if (row.end[i] > covered || marked) {
			const x = (row.start[i] - view.start) * scale, w = (row.end[i] - row.start[i]) * scale;
			drawBox(pen, x, y, w, nameOf(func), colour(func), marked);
			covered = row.end[i] + 0.5 / scale;
		}
		i = isSearched ? i + 1 : firstBehind(row, covered, i + 1);
	}
}

function drawAxis(pen, width, scale) {
	const about = 120 / scale, power = 10 ** Math.floor(Math.log10(about));
	const step = [1, 2, 5, 10].find(n => n * power >= about) * power;

	pen.fillStyle = css("--bar");
	pen.fillRect(0, 0, width, AXIS);
	pen.fillStyle = css("--dim");
	for (let t = Math.ceil(view.start / step) * step; t < view.end; t += step) {
		const x = (t - view.start) * scale;
		pen.fillRect(x, 0, 1, AXIS);
		pen.fillText(t === 0 ? "0" : timeText(t), x + 4, AXIS / 2);
	}
}

/* A short text over what a lane shows. */
function drawLabel(pen, text, y) {
	pen.font = "10px sans-serif";
	pen.globalAlpha = 0.85;
	pen.fillStyle = css("--back");
	pen.fillRect(2, y + 1, pen.measureText(text).width + 8, 12);
	pen.globalAlpha = 1;
	pen.fillStyle = css("--dim");
	pen.fillText(text, 6, y + 7.5);
	pen.font = "12px sans-serif";
}

function drawHead(pen, group, y, width) {
	pen.fillStyle = css("--bar");
	pen.fillRect(0, y, width, HEAD - 2);
	pen.fillStyle = css("--ink");
	pen.fillText((group.folded ? "▸ " : "▾ ") + group.title, 6, y + HEAD / 2);
}

/* Where in all that could be seen the window is. */
function drawPlace(pen, width, height) {
	const all = groupsHeight();

	if (all <= height)
		return;
	pen.fillStyle = css("--dim");
	pen.fillRect(width - 5, AXIS + view.top / all * (height - AXIS), 4, height / all * (height - AXIS));
}

/* What is selected, over everything. */
function drawSelected(pen, height, scale) {
	if (!view.selected)
		return;
	const x = (view.selected.start - view.start) * scale, end = (view.selected.end - view.start) * scale;
	pen.fillStyle = css("--steps");
	pen.globalAlpha = 0.18;
	pen.fillRect(x, 0, end - x, height);
	pen.globalAlpha = 1;
	pen.fillRect(x, 0, 1, height);
	pen.fillRect(end, 0, 1, height);
}

/* Of two traces the other one. */
function showTrace(of) {
	trace = of;
	groups = trace.groups ||= makeGroups();
	colours.clear();
	wantedByFunc.clear();
	Object.assign(view, { picked: null, selected: null, top: 0, zoom: [] });
	$("title").textContent = (trace.cmdline || trace.path).trim();
	document.title = $("title").textContent + " - ftr";
	$("details").textContent = "";
	$("left-out").textContent = lanesNote();
	$("which").value = traces.indexOf(of);
	addLaneButtons();
	search();
	viewSet(0, lengthOf(trace));
}

function drawTimeline() {
	const { pen, width, height } = fit($("timeline").firstElementChild);
	const scale = width / (view.end - view.start);

	view.top = Math.max(0, Math.min(view.top, groupsHeight() - height));
	pen.fillStyle = css("--back");
	pen.fillRect(0, 0, width, height);
	walkGroups((group, y) => {
		if (y + HEAD > AXIS && y < height)
			drawHead(pen, group, y, width);
	}, (track, y) => {
		if (track.kind === "calls" || (y + track.height > AXIS && y < height))
			track.draw(pen, y, width, scale);
		if (track.label !== "")
			drawLabel(pen, track.label, y);
	});
	drawAxis(pen, width, scale);
	drawSelected(pen, height, scale);
	drawPlace(pen, width, height);
	$("range").textContent = timeText(view.end - view.start) + " from " + timeText(Math.max(view.start, 0));
}
