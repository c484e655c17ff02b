/* ---- what is asked of ftr view --serve ---- */

/*
 * The range that was asked for last, at which length of the view, and what was got: spans of less than grain are
 * merged in it, too.
 */
const detail = { from: 0, to: 0, length: 0, grain: Infinity, text: "", request: null };
for (const of of traces)
	for (const task of of.tasks)
		task.merged = task.rows;	/* as they came in the page */

const absolute = time => (BigInt(trace.first) + BigInt(Math.round(time))).toString();
const funcOfName = new Map(trace.funcs.map((func, i) => [func && func[0], i + 1]));

function funcNamed(name) {
	if (!funcOfName.has(name)) {
		trace.funcs.push([name, 0, 0, 0, 0, 0]);
		funcOfName.set(name, trace.funcs.length);
	}
	return funcOfName.get(name);
}

async function ask(words, signal) {
	const answer = await fetch(words, { signal, cache: "no-store" });

	if (answer.status === 503)
		return null;	/* busy */
	const text = await answer.text(), json = answer.headers.get("Content-Type").startsWith("application/json");
	if (!json)
		throw new Error(text);
	const value = JSON.parse(text);
	if (value.error !== undefined)
		throw new Error(value.error);
	return value;
}

/* Copy some spans of a row into another one. */
function copySpans(to, at, from, first, end) {
	for (const part of ["start", "end", "func", "isRun", "runNs", "runCalls", "text"])
		to[part].set(from[part].subarray(first, end), at);
	return at + end - first;
}

/* A row with the spans of more in place of the runs that they are. */
function rowWith(row, more) {
	const first = firstBehind(row, detail.from), all = newRow(row.task, row.depth, row.nr + more.nr);
	let i = first, k = 0, at = copySpans(all, 0, row, 0, first);

	for (; i < row.nr && row.start[i] < detail.to; i++) {
		let end = k;
		while (k < more.nr && more.start[k] < row.start[i])
			end = ++k;
		while (end < more.nr && more.end[end] <= row.end[i])
			end++;
		const isKnown = row.isRun[i] === 1 && row.start[i] >= detail.from && row.end[i] <= detail.to && end > k;
		at = isKnown ? copySpans(all, at, more, k, end) : copySpans(all, at, row, i, i + 1);
		k = end;
	}
	at = copySpans(all, at, row, i, row.nr);
	all.nr = at;
	return all;
}

function detailTake(answer) {
	const offset = Number(BigInt(answer.first) - BigInt(trace.first)), byTid = new Map();
	const funcs = new Map(Object.entries(answer.names).map(([id, name]) => [+id + 1, funcNamed(name)]));

	for (const task of answer.tasks)
		byTid.set(task.tid + " " + task.pid, decode(null, task.rows, offset));
	for (const task of trace.tasks) {
		const rows = byTid.get(task.tid + " " + task.pid);
		task.rows = !rows ? task.merged : task.merged.map((row, depth) => {
			if (!rows[depth])
				return row;
			rows[depth].func.forEach((func, i, all) => { all[i] = func === NOT_RUNNING ? func : funcs.get(func); });
			return rowWith(row, rows[depth]);
		});
	}
}

/* Is there a run in view that is wide enough to be looked into? */
function isDetailWanted(pixel) {
	const isInside = Math.max(view.start, 0) >= detail.from && Math.min(view.end, trace.ns) <= detail.to;

	/* The same again would be answered in the same way: nearer by half at least. */
	if (trace.grain === 0 || trace.grain < pixel ||
	    (isInside && (detail.grain < pixel || view.end - view.start > detail.length / 2)))
		return false;
	return trace.tasks.some(task => task.merged.some(row => {
		const i = firstBehind(row, view.start);
		for (let k = i; k < row.nr && row.start[k] < view.end; k++)
			if (row.isRun[k] === 1)
				return true;
		return false;
	}));
}

/* Called when what is in view has stayed for a moment. */
async function detailAsk() {
	const length = view.end - view.start, pixel = length / $("timeline").clientWidth;

	if (!trace.served || !isDetailWanted(pixel))
		return;
	if (detail.request)
		detail.request.abort();
	const request = detail.request = new AbortController(), more = length / 2 + 2 * trace.grain;
	const from = Math.max(0, Math.floor(view.start - more)), to = Math.min(trace.ns, Math.ceil(view.end + more));
	try {
		const answer = await ask(`spans?from=${absolute(from)}&to=${absolute(to)}`, request.signal);
		if (request.signal.aborted)
			return;
		detail.request = null;
		if (!answer) {
			setTimeout(detailAsk, 300);
			return;
		}
		Object.assign(detail, { from, to, length, grain: answer.grain, text: answer.warning });
		detailTake(answer);
	} catch (error) {
		if (request.signal.aborted)
			return;
		detail.request = null;
		Object.assign(detail, { from, to, length, grain: Infinity, text: "no more could be read: " + error.message });
	}
	redraw();
}

/* What more is known of a call: a promise of arguments, return value and place, or of null. */
async function callAsk(span) {
	if (!trace.served || span.isRun || span.func === NOT_RUNNING)
		return null;
	return ask(`call?from=${absolute(span.start)}&to=${absolute(span.end)}&tid=${span.task.tid}&depth=${span.depth}`);
}
