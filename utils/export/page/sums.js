/* ---- sums of what is in view ---- */

const isWhole = () => view.start <= 0 && view.end >= trace.ns;

/* Calls, total and self of each function, and the tree of the flame graph. */
function sums() {
	const funcs = new Map(), root = { func: -1, ns: 0, self: 0, callees: new Map() };

	for (const task of trace.tasks) {
		const open = [];	/* by depth */
		task.rows.forEach((row, depth) => {
			open[depth] = [];
			for (let i = firstBehind(row, view.start); i < row.length && row[i].start < view.end; i++)
				open[depth].push(row[i]);
		});
		addRows(open, root, funcs);
	}
	return { funcs, root };
}

function addRows(rows, root, funcs) {
	let above = null;

	for (const row of rows) {
		const now = [];
		let k = 0;
		for (const span of row) {
			while (above && k < above.length && above[k].span.end < span.end)
				k++;
			const caller = above && k < above.length && above[k].span.start <= span.start ? above[k] : null;
			now.push(addSpan(span, caller, root, funcs));
		}
		above = now;
	}
}

function addSpan(span, caller, root, funcs) {
	const ns = Math.min(span.end, view.end) - Math.max(span.start, view.start);
	const parent = caller ? caller.node : root;
	let node = parent.callees.get(span.func), sum = funcs.get(span.func);

	if (!node)
		parent.callees.set(span.func, node = { func: span.func, ns: 0, parent, callees: new Map() });
	if (!sum)
		funcs.set(span.func, sum = { calls: 0, total: 0, self: 0, least: Infinity, most: 0 });
	node.ns += ns;
	sum.calls++;
	sum.self += ns;
	sum.least = Math.min(sum.least, span.end - span.start);
	sum.most = Math.max(sum.most, span.end - span.start);
	if (caller)
		funcs.get(caller.span.func).self -= ns;
	else
		root.ns += ns;
	let up = parent;
	while (up && up.func !== span.func)
		up = up.parent;
	if (!up)
		sum.total += ns;	/* recursion counts once */
	return { span, node };
}
