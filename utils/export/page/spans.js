/*
 * Spans of a task by depth: a row for each, of arrays that have an element for each span, in ascending
 * order, none over another.  A span is a call, a time that the task was not running, or a run of
 * calls too short to be shown one by one: then func is the one that most of the time is of.
 *
 *   row.nr             how many
 *   row.start[i], row.end[i]
 *   row.func[i]        NOT_RUNNING, or an index of functions + 1
 *   row.isRun[i]       1: a run, and only then
 *   row.runNs[i]       how much of that time is in the calls
 *   row.runCalls[i]    how many it stands for
 *   row.text[i]        where its arguments are in trace.texts, plus 1; 0 = nowhere
 *   row.task, row.depth
 *
 * Memory that nothing was written to costs nothing: in most traces few spans are runs or have texts.
 */
function newRow(task, depth, nr) {
	return {
		task, depth, nr, start: new Float64Array(nr), end: new Float64Array(nr), func: new Uint32Array(nr),
		isRun: new Uint8Array(nr), runNs: new Float64Array(nr), runCalls: new Uint32Array(nr), text: new Uint32Array(nr),
	};
}

/* How much of a span is in its calls, and how many calls it stands for: a time that the task was not running for none. */
const nsOf = (row, i) => row.isRun[i] === 1 ? row.runNs[i] : row.end[i] - row.start[i];
const callsOf = (row, i) => row.isRun[i] === 1 ? row.runCalls[i] : row.func[i] === NOT_RUNNING ? 0 : 1;

/* One span as an object, for what is picked or pointed at. */
function spanOf(row, i) {
	return {
		task: row.task, depth: row.depth, start: row.start[i], end: row.end[i], ns: nsOf(row, i), func: row.func[i],
		calls: callsOf(row, i), isRun: row.isRun[i] === 1, text: row.text[i],
	};
}

const isSpan = (span, row, i) => span !== null && span.task === row.task && span.depth === row.depth &&
	span.start === row.start[i] && span.end === row.end[i];

/* The first span of a row, from one on, that ends behind a time; row.nr when none does. */
function firstBehind(row, time, low = 0) {
	let high = row.nr;

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
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(base64);
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
			row.end[i] = end += number();
			const func = number(), kind = func & 3;
			row.func[i] = func >>> 2;
			if (kind === 1) {
				row.text[i] = number() + 1;
			} else if (kind === 2) {
				row.isRun[i] = 1;
				row.runCalls[i] = number();
				row.runNs[i] = number();
			}
		}
		rows.push(row);
	}
	return rows;
}

for (const of of traces)
	for (const task of of.tasks)
		task.rows = decode(task, task.rows, 0);
