/*
 * Spans of a task by depth: a row for each, of arrays that have an element for each span, in ascending
 * order, none over another.  A span is a call, a time that the task was not running, or a run of
 * calls too short to be shown one by one: then func is the one that most of the time is of.
 *
 *   row.nr             how many
 *   row.start[i], row.end[i]
 *   row.ns[i]          how much of that is in the calls (less than the whole in a run only)
 *   row.func[i]        NOT_RUNNING, or an index of functions + 1
 *   row.calls[i]       how many it stands for: 0 not running, 1 a call
 *   row.isRun[i]       1: a run
 *   row.text[i]        where its arguments are in trace.texts, plus 1; 0 = nowhere
 *   row.task, row.depth
 */
function newRow(task, depth, nr) {
	return {
		task, depth, nr, start: new Float64Array(nr), end: new Float64Array(nr), ns: new Float64Array(nr),
		func: new Uint32Array(nr), calls: new Uint32Array(nr), isRun: new Uint8Array(nr), text: new Uint32Array(nr),
	};
}

/* One span as an object, for what is picked or pointed at. */
function spanOf(row, i) {
	return {
		task: row.task, depth: row.depth, start: row.start[i], end: row.end[i], ns: row.ns[i], func: row.func[i],
		calls: row.calls[i], isRun: row.isRun[i] === 1, text: row.text[i],
	};
}

const isSpan = (span, row, i) => span !== null && span.task === row.task && span.depth === row.depth &&
	span.start === row.start[i] && span.end === row.end[i];

/* The first span of a row that ends behind a time; row.nr when none does. */
function firstBehind(row, time) {
	let low = 0, high = row.nr;

	while (low < high) {
		const middle = (low + high) >> 1;
		if (row.end[middle] > time)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

function bytesOf(base64) {
	const text = atob(base64), bytes = new Uint8Array(text.length);

	for (let i = 0; i < text.length; i++)
		bytes[i] = text.charCodeAt(i);
	return bytes;
}

/* The LEB128 numbers of some bytes, one with each call. */
function numbersOf(bytes) {
	let at = 0;

	return () => {
		let value = 0, factor = 1, byte;
		do {
			byte = bytes[at++];
			value += (byte & 127) * factor;
			factor *= 128;
		} while (byte & 128);
		return value;
	};
}

function decode(task, base64, firstNs) {
	const number = numbersOf(bytesOf(base64)), rows = [];

	for (let depth = 0, depths = number(); depth < depths; depth++) {
		const row = newRow(task, depth, number());
		let end = firstNs;
		for (let i = 0; i < row.nr; i++) {
			row.start[i] = end += number();
			row.end[i] = end += row.ns[i] = number();
			const func = number(), kind = func & 3;
			row.func[i] = func >>> 2;
			row.calls[i] = func > 3 ? 1 : 0;
			row.text[i] = kind === 1 ? number() + 1 : 0;
			if (kind === 2) {
				row.isRun[i] = 1;
				row.calls[i] = number();
				row.ns[i] = number();
			}
		}
		rows.push(row);
	}
	return rows;
}

for (const of of traces)
	for (const task of of.tasks)
		task.rows = decode(task, task.rows, 0);
