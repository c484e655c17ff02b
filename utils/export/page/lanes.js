/* ---- lanes: what is shown beside calls ---- */

/*
 * A group has a head, which folds it, and tracks below it: of the system, of a process, of a task,
 * whose last track are its calls.  A track has
 *
 *   kind, label, height
 *   draw(pen, y, width, scale)
 *   at(x, y, time, near)   what is there, y counted from its top: { text, start, end, ... } or null
 *   hits()                 how many of its things have what is searched for in their names
 */
const LANE_KINDS = {
	cpus: "CPUs", runs: "running", syscalls: "system calls", waits: "waits", spans: "spans", kernel: "kernel",
	marks: "events", values: "counters", memory: "memory",
};
const STEPS = 34, MEMORY = "memory in use", LANE_ROWS_MAX = 8, NEAR = 4;
const laneName = what => trace.lanes.names[what][0];
const hidden = new Set();

const isFound = text => view.wanted !== "" && text.toLowerCase().includes(view.wanted);

const laneColours = new Map();

function laneColour(text) {
	if (!laneColours.has(text)) {
		const hash = hashOf(text);
		laneColours.set(text, `hsl(${hash % 360} ${35 + (hash >>> 12) % 20}% ${62 + (hash >>> 20) % 12}%)`);
	}
	return laneColours.get(text);
}

function valueText(value, unit) {
	let bytes = unit === "B" ? value : unit === "KB" ? value * 1024 : NaN;

	if (isNaN(bytes))
		return value.toLocaleString("en", { maximumFractionDigits: 3 }) + (unit ? " " + unit : "");
	for (const name of ["B", "KB", "MB", "GB"]) {
		if (Math.abs(bytes) < 1024 || name === "GB")
			return bytes.toLocaleString("en", { maximumFractionDigits: 1 }) + " " + name;
		bytes /= 1024;
	}
}

/* [time from the one before, ...] -> things by their begins. */
function things(numbers, width, make) {
	const all = [];
	let time = 0;

	for (let i = 0; i < (numbers || []).length; i += width)
		all.push(make(time += numbers[i], i));
	return all.sort((a, b) => a.start - b.start);
}

const thingsOf = (task, lane) => things(task[lane], 3, (start, i) =>
	({ start, end: start + task[lane][i + 1], what: task[lane][i + 2], task }));

/* Things that take time, in as few rows as let none lie over another. */
function packed(all) {
	const rows = [];

	for (const thing of all) {
		let row = rows.find(row => row.last <= thing.start);
		if (!row && rows.length < LANE_ROWS_MAX)
			rows.push(row = { things: [], last: 0 });
		row ||= rows[LANE_ROWS_MAX - 1];
		row.things.push(thing);
		row.last = Math.max(row.last, thing.end);
	}
	return rows.map(({ things }) => ({
		things, nr: things.length, start: Float64Array.from(things, t => t.start),
		end: Float64Array.from(things, t => t.end),
	}));
}

function spansTrack(kind, label, all, nameOfThing) {
	const rows = packed(all);

	return {
		kind, label, height: rows.length * ROW,
		draw(pen, y, width, scale) {
			rows.forEach((row, depth) => drawThings(pen, row, y + depth * ROW, scale, nameOfThing));
		},
		at(x, y, time, near) {
			const row = rows[Math.floor(y / ROW)], i = row ? firstBehind(row, time - near) : 0;
			const thing = row && i < row.nr && row.start[i] <= time + near ? row.things[i] : null;
			return thing && { ...thing, thing, kind, text: nameOfThing(thing) };
		},
		hits: () => all.reduce((n, thing) => n + isFound(nameOfThing(thing)), 0),
	};
}

function drawThings(pen, row, y, scale, nameOfThing) {
	let covered = -1;

	for (let i = firstBehind(row, view.start); i < row.nr && row.start[i] < view.end; i++) {
		const x = (row.start[i] - view.start) * scale, w = (row.end[i] - row.start[i]) * scale;
		if (x + w < covered + 0.5 && view.wanted === "" && view.picked?.thing !== row.things[i])
			continue;	/* a pixel is drawn once */
		const name = nameOfThing(row.things[i]);
		drawBox(pen, x, y, w, name, laneColour(name), isFound(name) || view.picked?.thing === row.things[i]);
		covered = x + w;
	}
}

/* The first of some numbers that is not below a value. */
function lowerBound(numbers, value) {
	let low = 0, high = numbers.length;

	while (low < high) {
		const middle = (low + high) >> 1;
		if (numbers[middle] >= value)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

function marksTrack(all) {
	const times = Float64Array.from(all, mark => mark.start);
	const isHitMark = mark => isFound(laneName(mark.what)) || isFound(mark.data);

	return {
		kind: "marks", label: "events", height: ROW,
		draw(pen, y, width, scale) {
			let covered = -1;
			for (let i = lowerBound(times, view.start); i < all.length && times[i] < view.end; i++) {
				const x = (times[i] - view.start) * scale, marked = isHitMark(all[i]) || view.picked?.thing === all[i];
				if (x < covered + 1 && !marked)
					continue;
				pen.fillStyle = marked ? css("--hit") : laneColour(laneName(all[i].what));
				pen.fillRect(x - 1, y + 1, marked ? 3 : 2, ROW - 3);
				covered = x;
			}
		},
		at(x, y, time, near) {
			let best = null;
			for (let i = lowerBound(times, time - NEAR * near); i < all.length && times[i] <= time + NEAR * near; i++)
				if (!best || Math.abs(times[i] - time) < Math.abs(best.start - time))
					best = all[i];
			return best && { ...best, thing: best, kind: "marks", text: laneName(best.what) };
		},
		hits: () => all.reduce((n, mark) => n + isHitMark(mark), 0),
	};
}

/* A value over time: steps, and where a point stands for several values a band between them. */
function stepsTrack(kind, values) {
	const times = [], lows = [], highs = [], lasts = [], label = laneName(values.name);
	let time = 0, least = Infinity, most = -Infinity;

	for (let i = 0; i < values.points.length; i += 4) {
		time += values.points[i];
		if (values.points[i + 3] === null)
			continue;	/* no number */
		times.push(time);
		lows.push(values.points[i + 1]);
		highs.push(values.points[i + 2]);
		lasts.push(values.points[i + 3]);
		least = Math.min(least, values.points[i + 1]);
		most = Math.max(most, values.points[i + 2]);
	}
	const range = most > least ? most - least : 1, inner = STEPS - 6;
	const height = value => most > least ? (1 - (value - least) / range) * inner + 2 : ROW - 5;

	return {
		kind, height: most > least ? STEPS : ROW,
		label: label + (times.length === 0 ? "" : "  " + valueText(least, values.unit) +
			(most > least ? " – " + valueText(most, values.unit) : "")),
		draw(pen, y, width, scale) {
			let i = Math.max(0, lowerBound(times, view.start) - 1), covered = -1;
			pen.strokeStyle = css("--steps");
			pen.fillStyle = css("--steps");
			pen.lineWidth = 1.5;
			pen.beginPath();
			for (; i < times.length && times[i] < view.end; i++) {
				const x = Math.max((times[i] - view.start) * scale, 0);
				const next = i + 1 < times.length ? Math.min((times[i + 1] - view.start) * scale, width) : width;
				const top = height(highs[i]), low = height(lows[i]);
				if (low > top)
					pen.fillRect(x, y + top, Math.max(next - x, 1), low - top);
				if (covered < 0)
					pen.moveTo(x, y + height(lasts[i]));
				pen.lineTo(x, y + height(lasts[i]));
				pen.lineTo(next, y + height(lasts[i]));
				covered = next;
			}
			pen.stroke();
		},
		at(x, y, time) {
			const i = lowerBound(times, time) - (times[lowerBound(times, time)] === time ? 0 : 1);
			return i < 0 ? null : {
				kind, start: times[i], end: times[i], pid: values.pid, tid: values.tid,
				text: `${label} = ${valueText(lasts[i], values.unit)}` + (highs[i] > lows[i] ?
					` (${valueText(lows[i], values.unit)} to ${valueText(highs[i], values.unit)})` : ""),
			};
		},
		hits: () => isFound(label) ? 1 : 0,
	};
}

const callsTrack = task => ({
	kind: "calls", label: "", height: Math.max(1, task.rows.length) * ROW,
	draw(pen, y, width, scale) {
		task.rows.forEach((row, depth) => drawRow(pen, row, y + depth * ROW, width, scale));
		task.callsY = y;
	},
	at(x, y, time, near) {
		const row = task.rows[Math.floor(y / ROW)], i = row && firstBehind(row, time - near);
		return row && i < row.nr && row.start[i] <= time + near ? spanOf(row, i) : null;
	},
	hits: () => 0,
});

/* ---- which there are ---- */

function cpuTracks(tasks) {
	const byCpu = [];

	for (const task of tasks)
		for (const run of thingsOf(task, "runs"))
			if (run.what > 0)
				(byCpu[run.what - 1] ||= []).push(run);
	return byCpu.map((all, cpu) => spansTrack("cpus", `CPU ${cpu}`, all.sort((a, b) => a.start - b.start),
						  run => `${run.task.name} ${run.task.tid}`)).filter(track => track);
}

function kernelTracks(tasks) {
	const byName = new Map();

	for (const task of tasks)
		for (const thing of thingsOf(task, "kernel"))
			byName.set(thing.what, byName.get(thing.what) || []).get(thing.what).push(thing);
	return [...byName].map(([what, all]) => spansTrack("kernel", laneName(what),
							   all.sort((a, b) => a.start - b.start), () => laneName(what)));
}

const valueTracks = values => values.map(v => stepsTrack(laneName(v.name) === MEMORY ? "memory" : "values", v));

function taskTracks(of, values) {
	const tracks = [], cpuName = run => run.what > 0 ? `CPU ${run.what - 1}` : "running";

	if (of?.runs)
		tracks.push(spansTrack("runs", "running", thingsOf(of, "runs"), cpuName));
	for (const lane of ["syscalls", "waits", "spans"])
		if (of?.[lane])
			tracks.push(spansTrack(lane, LANE_KINDS[lane], thingsOf(of, lane), thing => laneName(thing.what)));
	if (of?.marks)
		tracks.push(marksTrack(things(of.marks, 3, (start, i) =>
			({ start, end: start, what: of.marks[i + 1], data: of.marks[i + 2], task: of }))));
	return tracks.concat(valueTracks(values));
}

/* Of a task that made no calls, too. */
function tasksWithLanes(all) {
	const byId = new Map(all.tasks.map(task => [task.pid + "/" + task.tid + "/" + task.name, task]));

	for (const of of all.lanes.tasks) {
		const key = of.pid + "/" + of.tid + "/" + of.name;
		let task = byId.get(key);
		if (!task) {
			byId.set(key, task = { pid: of.pid, tid: of.tid, name: of.name, rows: [], merged: [] });
			all.tasks.push(task);
		}
		task.lanes = of;
	}
	all.tasks.sort((a, b) => a.pid - b.pid || (a.tid !== a.pid) - (b.tid !== b.pid) || a.tid - b.tid);
}

function makeGroups() {
	const { tasks, values } = trace.lanes, groups = [], pids = new Set();
	const add = (title, tracks, folded) => tracks.length > 0 && groups.push({ title, tracks, folded });

	/* Many counters would move the calls out of sight. */
	const addProcess = pid => {
		const tracks = valueTracks(values.filter(v => v.pid === pid && v.tid === 0));
		tracks.sort((a, b) => (b.kind === "memory") - (a.kind === "memory"));
		add(`process ${pid}`, tracks, tracks.length > 3);
	};

	add("CPUs", cpuTracks(tasks), false);
	add("system", valueTracks(values.filter(v => v.pid === 0)), true);
	add("kernel", kernelTracks(tasks), false);
	for (const task of trace.tasks) {
		if (!pids.has(task.pid))
			addProcess(task.pid);
		pids.add(task.pid);
		const own = values.filter(v => v.pid === task.pid && v.tid === task.tid);
		add(`${task.name} ${task.tid}` + (task.tid === task.pid ? "" : ` of ${task.pid}`),
		    [...taskTracks(task.lanes, own), callsTrack(task)], false);
	}
	return groups;
}
traces.forEach(tasksWithLanes);
let groups = trace.groups = makeGroups();

const shownTracks = group => group.folded ? [] : group.tracks.filter(track => !hidden.has(track.kind));

/* Its own calls stand for a task of which all lanes are hidden; of others nothing is left. */
const isShown = group => group.tracks.some(track => !hidden.has(track.kind));

function groupsHeight() {
	return groups.filter(isShown).reduce((sum, group) =>
		sum + HEAD + shownTracks(group).reduce((n, track) => n + track.height, 0), AXIS);
}

/* What lies where, from the top of the timeline on: calls with a group's head, then with its tracks. */
function walkGroups(head, each) {
	let y = AXIS - view.top;

	for (const group of groups.filter(isShown)) {
		if (head(group, y))
			return;
		y += HEAD;
		for (const track of shownTracks(group)) {
			if (each(track, y))
				return;
			y += track.height;
		}
	}
}

function groupAt(y) {
	let found = null;

	walkGroups((group, top) => {
		if (y >= top && y < top + HEAD)
			found = group;
	}, () => false);
	return y > AXIS ? found : null;
}

function hitAt(x, y) {
	const width = $("timeline").clientWidth, near = (view.end - view.start) / width;
	let found = null;

	walkGroups(() => false, (track, top) => {
		if (y < top || y >= top + track.height)
			return false;
		found = track.at(x, y - top, view.start + x * near, near);
		return true;
	});
	return y > AXIS ? found : null;
}

const laneHits = () => groups.reduce((sum, group) => sum + group.tracks.reduce((n, track) => n + track.hits(), 0), 0);

/* What a click on something that is no call tells. */
function thingText(thing) {
	const took = thing.end > thing.start ? ` for ${timeText(thing.end - thing.start)}` : "";
	const of = thing.task ? ` in ${thing.task.name} ${thing.task.tid}` : thing.tid ? ` of ${thing.tid}` :
		thing.pid ? ` of process ${thing.pid}` : "";

	return `${thing.text}${took} at ${timeText(thing.start)}${of}${thing.data ? "  " + thing.data : ""}`;
}

/* Too many of a kind are not all drawn: the page says so. */
function lanesNote() {
	const { leftOut, names } = trace.lanes, texts = [];

	for (const [lane, [nr, least]] of Object.entries(leftOut))
		if (lane !== "blocks")
			texts.push(`${nr.toLocaleString("en")} of lane "${LANE_KINDS[lane]}", none longer than ${timeText(least)}`);
	for (const [name, seen, every] of names)
		if (every > 1)
			texts.push(`of ${seen.toLocaleString("en")} ${name} all but every ${every}th`);
	return texts.length === 0 ? "" : "not drawn: " + texts.join("; ");
}
