/* Spans of a task by depth: ascending starts that do not overlap. */
function decode(task) {
	const bytes = Uint8Array.from(atob(task.spans), c => c.charCodeAt(0));
	let at = 0, end = 0;
	const number = () => {
		let value = 0, factor = 1, byte;
		do {
			byte = bytes[at++];
			value += (byte & 127) * factor;
			factor *= 128;
		} while (byte & 128);
		return value;
	};

	task.rows = [];
	for (let i = 0; i < task.nr; i++) {
		end += number();
		const ns = number(), func = number(), depth = number();
		(task.rows[depth] ||= []).push({ start: end - ns, end, func, depth, task });
	}
	for (let depth = 0; depth < task.rows.length; depth++)
		(task.rows[depth] ||= []).sort((a, b) => a.start - b.start);
	task.spans = null;
	task.height = HEAD + Math.max(1, task.rows.length) * ROW;
}
trace.tasks.forEach(decode);
trace.tasks.sort((a, b) => a.pid - b.pid || (a.tid !== a.pid) - (b.tid !== b.pid) || a.tid - b.tid);


/* The first span of a row that ends behind a time. */
function firstBehind(row, time) {
	let low = 0, high = row.length;

	while (low < high) {
		const middle = (low + high) >> 1;
		if (row[middle].end > time)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
