/* ---- two ranges, or two traces, beside each other ---- */

/* What is pinned as A, { of, start, end }: what is in view, or selected, is B. */
let pinned = null;

/* A tree of both, by names: a node is as wide as both together, so that what only one has is seen, too. */
function pairTree(sides) {
	const root = { name: "", ns: 0, a: 0, b: 0, callees: new Map() };

	sides.forEach(({ root: of, trace: its }, side) => {
		const made = new Map([[of, root]]);
		for (const node of nodesOf(of)) {
			let pair = made.get(node);
			if (!pair) {
				const parent = made.get(node.parent), name = nameOf(node.func, its);
				pair = parent.callees.get(name) || { name, ns: 0, a: 0, b: 0, parent, callees: new Map() };
				parent.callees.set(name, pair);
				made.set(node, pair);
			}
			pair[side === 0 ? "a" : "b"] += node.ns;
			pair.ns += node.ns;
		}
	});
	return root;
}

/* Rows of both, by name: [name, then of A and B: calls, total, and what B has more, self, and more]. */
function pairRows(a, b) {
	const rows = new Map();

	[a, b].forEach((side, at) => {
		for (const [name, calls, total, self] of side) {
			if (!rows.has(name))
				rows.set(name, [name, 0, 0, 0, 0, 0, 0, 0, 0]);
			const row = rows.get(name);
			row[1 + at] += calls;
			row[3 + at] += total;
			row[6 + at] += self;
		}
	});
	for (const row of rows.values()) {
		row[5] = row[4] - row[3];
		row[8] = row[7] - row[6];
	}
	return [...rows.values()];
}

/* Red: B has more; blue: A has. */
function pairColour(node) {
	const more = node.ns > 0 ? (node.b - node.a) / node.ns : 0;

	return `hsl(${more > 0 ? 8 : 212} ${Math.round(Math.abs(more) * 75)}% ${Math.round(84 - Math.abs(more) * 24)}%)`;
}

const percent = (a, b) => a > 0 ? ` (${b >= a ? "+" : ""}${((b - a) / a * 100).toFixed(1)} %)` : "";
const signed = (value, text) => (value < 0 ? "−" : value > 0 ? "+" : "") + text(Math.abs(value));

function rangeText(of, range) {
	const name = traces.length > 1 ? of.path + ", " : "";

	return name + (isWholeRange(of, range) ? "all" : `${timeText(range.end - range.start)} from ${timeText(Math.max(range.start, 0))}`);
}

function pin(range) {
	pinned = range;
	$("pin").hidden = pinned !== null;
	$("unpin").hidden = pinned === null;
	$("pinned").textContent = pinned ? `B, what is seen, against A: ${rangeText(pinned.of, pinned)}` : "";
	redraw();
}
