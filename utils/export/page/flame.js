let flameBoxes = [];

function drawFlame(root) {
	const { pen, width, height } = fit($("flame").firstElementChild);
	const scale = width / Math.max(root.ns, 1);

	flameBoxes = [];
	pen.fillStyle = css("--back");
	pen.fillRect(0, 0, width, height);
	const draw = (node, x, depth) => {
		for (const callee of [...node.callees.values()].sort((a, b) => b.ns - a.ns)) {
			const w = callee.ns * scale;
			if (w < 0.5 || depth * ROW > height)
				break;
			drawBox(pen, x, depth * ROW, w, nameOf(callee.func), colour(callee.func), isHit(callee.func));
			flameBoxes.push({ x, y: depth * ROW, w, callee, share: callee.ns / root.ns });
			draw(callee, x, depth + 1);
			x += w;
		}
	};
	draw(root, 0, 0);
}
