/* ---- timeline ---- */

const isWanted = func => view.wanted !== "" && nameOf(func).toLowerCase().includes(view.wanted);
const wantedByFunc = new Map();

function isHit(func) {
	if (!wantedByFunc.has(func))
		wantedByFunc.set(func, isWanted(func));
	return wantedByFunc.get(func);
}

function colourOf(func) {
	if (func === NOT_RUNNING)
		return "#8886";
	let hash = 0x811c9dc5;
	for (const c of nameOf(func))
		hash = Math.imul(hash ^ c.charCodeAt(0), 0x01000193);
	hash = Math.imul(hash ^ hash >>> 15, 0x9e3779b1) >>> 0;
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
		pen.fillStyle = "#111";
		pen.fillText(text, Math.max(x, 0) + 3, y + ROW / 2);
		pen.restore();
	}
}

function drawRow(pen, row, y, width, scale) {
	let covered = -1;

	for (let i = firstBehind(row, view.start); i < row.nr && row.start[i] < view.end; i++) {
		const func = row.func[i], x = (row.start[i] - view.start) * scale, w = (row.end[i] - row.start[i]) * scale;
		const marked = isHit(func) || isSpan(view.picked, row, i);
		if (x + w < covered + 0.5 && !marked)
			continue;	/* a pixel is drawn once */
		drawBox(pen, x, y, w, nameOf(func), colour(func), marked);
		covered = x + w;
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

function drawTimeline() {
	const { pen, width, height } = fit($("timeline").firstElementChild);
	const scale = width / (view.end - view.start);
	let y = AXIS - view.top;

	pen.fillStyle = css("--back");
	pen.fillRect(0, 0, width, height);
	for (const task of trace.tasks) {
		if (y + task.height > AXIS && y < height) {
			task.rows.forEach((row, depth) => drawRow(pen, row, y + HEAD + depth * ROW, width, scale));
			pen.fillStyle = css("--bar");
			pen.fillRect(0, y, width, HEAD - 2);
			pen.fillStyle = css("--ink");
			pen.fillText(`${task.name} ${task.tid}` + (task.tid === task.pid ? "" : ` of ${task.pid}`), 6,
				     y + HEAD / 2);
		}
		task.y = y;
		y += task.height;
	}
	drawAxis(pen, width, scale);
	$("range").textContent = timeText(view.end - view.start) + " from " + timeText(Math.max(view.start, 0));
}

function spanAt(x, y) {
	const box = $("timeline"), time = view.start + x / box.clientWidth * (view.end - view.start);
	const near = (view.end - view.start) / box.clientWidth;
	const task = trace.tasks.find(task => y >= task.y + HEAD && y < task.y + task.height);
	const row = task && y > AXIS && task.rows[Math.floor((y - task.y - HEAD) / ROW)];
	const i = row && firstBehind(row, time - near);

	return row && i < row.nr && row.start[i] <= time + near ? spanOf(row, i) : null;
}
