let flameBoxes = [];

const nodeName = node => !node.parent ? "all" : node.name ?? nameOf(node.func);

/* The part of a tree that was clicked into, by the names that lead there; all, where it is not there. */
function zoomed(root) {
	let node = root;

	for (const name of view.zoom) {
		node = [...node.callees.values()].find(callee => nodeName(callee) === name);
		if (!node)
			return root;
	}
	return node;
}

function pathOf(node) {
	const names = [];

	for (; node.parent; node = node.parent)
		names.unshift(nodeName(node));
	return names;
}

/* @root of pairTree() where @isPair, else a tree. */
function drawFlame(root, isPair) {
	const { pen, width, height } = fit($("flame").firstElementChild);
	const top = zoomed(root), callers = [], scale = width / Math.max(top.ns, 1);
	const fill = node => isPair ? pairColour(node) : colour(node.func);
	const box = (node, x, y, w) => {
		const name = node.parent ? nodeName(node) : "all (click: back)";
		drawBox(pen, x, y, w, name, node.parent ? fill(node) : IDLE, isFound(name));
		flameBoxes.push({ x, y, w, node, share: node.ns / root.ns });
	};
	const draw = (node, x, y) => {
		for (const callee of [...node.callees.values()].sort((a, b) => b.ns - a.ns)) {
			const w = callee.ns * scale;
			if (w < 0.5 || y > height)
				break;
			box(callee, x, y, w);
			draw(callee, x, y + ROW);
			x += w;
		}
	};

	flameBoxes = [];
	pen.fillStyle = css("--back");
	pen.fillRect(0, 0, width, height);
	for (let node = top; node !== root; node = node.parent)
		callers.unshift(node);
	if (top !== root)
		[root, ...callers].forEach((node, depth) => box(node, 0, depth * ROW, width));
	draw(top, 0, top === root ? 0 : (callers.length + 1) * ROW);
}

function flameText({ node, share }) {
	const text = WEIGHTS[view.by].text;

	if (node.a === undefined)
		return `${nodeName(node)}  ${text(node.ns)}  ${(share * 100).toFixed(1)} %`;
	return `${nodeName(node)}  A ${text(node.a)}  B ${text(node.b)}${percent(node.a, node.b)}`;
}

function flameAt(event) {
	const area = $("flame").getBoundingClientRect(), x = event.clientX - area.left, y = event.clientY - area.top;

	return flameBoxes.find(b => x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + ROW);
}
