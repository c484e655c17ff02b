/* ---- sums of what is in view ---- */

const isWhole = () => view.start <= 0 && view.end >= trace.ns;

/* The tree of the whole trace, which has all calls. */
function wholeTree() {
	const number = numbersOf(bytesOf(trace.tree)), root = { func: -1, ns: 0, callees: new Map() }, nodes = [root];

	for (let i = 1; i <= trace.nodes; i++) {
		const parent = nodes[i - number()], code = number(), ns = number(), calls = number();
		const func = code === 0 ? NOT_RUNNING : code === 1 ? REST : code - 1;
		const node = parent.callees.get(func) || { func, ns: 0, calls: 0, parent, callees: new Map() };
		parent.callees.set(func, node);
		node.ns += ns;
		node.calls += calls;
		if (parent === root)
			root.ns += ns;
		nodes.push(node);
	}
	trace.tree = null;
	return root;
}
const whole = wholeTree();

/* Calls, total and self of each function, and the tree of the flame graph. */
function sums() {
	const funcs = new Map(), root = { func: -1, ns: 0, self: 0, callees: new Map() };

	for (const task of trace.tasks) {
		let above = null;
		for (const row of task.rows)
			above = addRow(row, above, root, funcs);
	}
	return { funcs, root };
}

/* Returns what addRow needs of the row of callers: where its spans in view begin, and their nodes. */
function addRow(row, above, root, funcs) {
	const first = firstBehind(row, view.start), nodes = [];
	let k = 0;

	for (let i = first; i < row.nr && row.start[i] < view.end; i++) {
		let caller = null;
		while (above && k < above.nodes.length && above.row.end[above.first + k] < row.end[i])
			k++;
		if (above && k < above.nodes.length && above.row.start[above.first + k] <= row.start[i])
			caller = above.nodes[k];
		nodes.push(addSpan(row, i, caller, root, funcs));
	}
	return { row, first, nodes };
}

/* The part of a span's time that is in view. */
function nsInView(row, i) {
	const ns = Math.min(row.end[i], view.end) - Math.max(row.start[i], view.start), all = row.end[i] - row.start[i];

	return ns < all && all > 0 ? row.ns[i] * ns / all : row.ns[i];
}

function addSpan(row, i, caller, root, funcs) {
	const ns = nsInView(row, i), func = row.func[i], calls = row.calls[i] || 1, each = row.ns[i] / calls;
	const parent = caller || root;
	let node = parent.callees.get(func), sum = funcs.get(func);

	if (!node)
		parent.callees.set(func, node = { func, ns: 0, parent, callees: new Map() });
	if (!sum)
		funcs.set(func, sum = { calls: 0, total: 0, self: 0, least: Infinity, most: 0 });
	node.ns += ns;
	sum.calls += calls;
	sum.self += ns;
	sum.least = Math.min(sum.least, each);
	sum.most = Math.max(sum.most, each);
	if (caller)
		funcs.get(caller.func).self -= ns;
	else
		root.ns += ns;
	let up = parent;
	while (up && up.func !== func)
		up = up.parent;
	if (!up)
		sum.total += ns;	/* recursion counts once */
	return node;
}
