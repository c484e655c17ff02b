/* ---- trees by what their nodes weigh: time, time not running, bytes of memory ---- */

/* In all of these ns is what a node weighs, whatever that is, and calls how many calls, waits or blocks. */
const WEIGHTS = {
	time: { name: "time", text: timeText, nr: "calls" },
	wait: { name: "time not running", text: timeText, nr: "waits" },
	bytes: { name: "bytes allocated", text: bytes => valueText(bytes, "B"), nr: "blocks" },
};

const hasWeight = {
	time: () => true,
	wait: of => of.tasks.some(task => task.rows.some(row => row.func.includes(NOT_RUNNING))),
	bytes: of => of.lanes.tasks.some(task => task.blocks),
};

/* All nodes of a tree, callers first. */
function nodesOf(root) {
	const all = [root];

	for (let i = 0; i < all.length; i++)
		for (const callee of all[i].callees.values())
			all.push(callee);
	return all;
}

/* The calls in which tasks were not running. */
function waitTree(root) {
	const nodes = nodesOf(root).filter(node => node.func !== NOT_RUNNING), made = new Map();

	for (const node of nodes)
		made.set(node, { func: node.func, ns: 0, calls: 0, parent: made.get(node.parent), callees: new Map() });
	for (const node of nodes.reverse()) {
		const own = made.get(node), idle = node === root ? null : node.callees.get(NOT_RUNNING);
		own.ns += idle ? idle.ns : 0;
		own.calls += idle ? idle.calls : 0;
		if (own.parent && own.ns > 0) {
			own.parent.callees.set(own.func, own);
			own.parent.ns += own.ns;
		}
	}
	return made.get(root);
}

/* The calls that asked for memory, outermost first, at a time. */
function callsAt(task, time) {
	const funcs = [];

	for (const row of task.rows) {
		const i = firstBehind(row, time);
		if (i === row.nr || row.start[i] > time || row.func[i] === NOT_RUNNING)
			break;
		funcs.push(row.func[i]);
	}
	return funcs;
}

function bytesTree(of, range) {
	const root = { func: -1, ns: 0, calls: 0, callees: new Map() };

	for (const task of of.tasks) {
		for (const block of task.lanes?.blocks ? thingsOf(task.lanes, "blocks") : []) {
			if (block.start < range.start || block.start > range.end)
				continue;
			const bytes = block.end - block.start;
			let node = root;
			root.ns += bytes;
			for (const func of callsAt(task, block.start)) {
				if (!node.callees.has(func))
					node.callees.set(func, { func, ns: 0, calls: 0, parent: node, callees: new Map() });
				node = node.callees.get(func);
				node.ns += bytes;
			}
			node.calls++;
		}
	}
	return root;
}

function treeBy(by, of, range) {
	if (by === "bytes")
		return bytesTree(of, range);
	const root = isWholeRange(of, range) ? wholeOf(of) : sums(of, range).root;
	return by === "wait" ? waitTree(root) : root;
}

/* [name, calls, total, self] of the functions in a part of a tree. */
function treeRows(top, of) {
	const rows = new Map();

	for (const node of nodesOf(top)) {
		if (node.func === NOT_RUNNING || node.func === -1)
			continue;
		let row = rows.get(node.func), below = 0;
		if (!row)
			rows.set(node.func, row = [nameOf(node.func, of), 0, 0, 0]);
		for (const callee of node.callees.values())
			below += callee.ns;
		row[1] += node.calls;
		row[2] += isWithinItself(node) ? 0 : node.ns;
		row[3] += node.ns - below;
	}
	return [...rows.values()];
}
