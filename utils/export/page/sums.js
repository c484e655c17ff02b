/* ---- sums of what is in view, or selected ---- */

const seen = () => view.selected || view;
const isWholeRange = (of, range) => range.start <= 0 && range.end >= of.ns;

/* The tree of a whole trace, which has all calls. */
function wholeTree(of) {
	const number = numbersOf(bytesOf(of.tree)), root = { func: -1, ns: 0, calls: 0, callees: new Map() }, nodes = [root];

	for (let i = 1; i <= of.nodes; i++) {
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
	of.tree = null;
	return root;
}
const wholeOf = of => of.whole ||= wholeTree(of);

/* Calls, total and self of each function, and the tree of the flame graph. */
function sums(of, range) {
	const funcs = new Map(), root = { func: -1, ns: 0, calls: 0, callees: new Map() };

	for (const task of of.tasks) {
		let above = null;
		for (const row of task.rows)
			above = addRow(row, range, above, root, funcs);
	}
	return { funcs, root };
}

/* Returns what addRow needs of the row of callers: where its spans in the range begin, and their nodes. */
function addRow(row, range, above, root, funcs) {
	const first = firstBehind(row, range.start), nodes = [];
	let k = 0;

	for (let i = first; i < row.nr && row.start[i] < range.end; i++) {
		let caller = null;
		while (above && k < above.nodes.length && above.row.end[above.first + k] < row.end[i])
			k++;
		if (above && k < above.nodes.length && above.row.start[above.first + k] <= row.start[i])
			caller = above.nodes[k];
		nodes.push(addSpan(row, i, nsInRange(row, i, range), caller, root, funcs));
	}
	return { row, first, nodes };
}

/* The part of a span's time that is in a range. */
function nsInRange(row, i, range) {
	const ns = Math.min(row.end[i], range.end) - Math.max(row.start[i], range.start), all = row.end[i] - row.start[i];

	return ns < all && all > 0 ? nsOf(row, i) * ns / all : nsOf(row, i);
}

function isWithinItself(node) {
	let up = node.parent;

	while (up && up.func !== node.func)
		up = up.parent;
	return Boolean(up);
}

function addSpan(row, i, ns, caller, root, funcs) {
	const func = row.func[i], calls = callsOf(row, i) || 1, each = nsOf(row, i) / calls;
	const parent = caller || root;
	let node = parent.callees.get(func), sum = funcs.get(func);

	if (!node)
		parent.callees.set(func, node = { func, ns: 0, calls: 0, parent, callees: new Map() });
	if (!sum)
		funcs.set(func, sum = { calls: 0, total: 0, self: 0, least: Infinity, most: 0 });
	node.ns += ns;
	node.calls += calls;
	sum.calls += calls;
	sum.self += ns;
	sum.least = Math.min(sum.least, each);
	sum.most = Math.max(sum.most, each);
	if (caller)
		funcs.get(caller.func).self -= ns;
	else
		root.ns += ns;
	if (!isWithinItself(node))
		sum.total += ns;	/* recursion counts once */
	return node;
}
