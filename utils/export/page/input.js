/* ---- people ---- */

function tip(event, text) {
	const box = $("tip");

	box.style.display = text ? "block" : "none";
	box.textContent = text || "";
	box.style.left = Math.min(event.clientX + 14, window.innerWidth - box.offsetWidth - 4) + "px";
	box.style.top = Math.min(event.clientY + 14, window.innerHeight - box.offsetHeight - 4) + "px";
}

const spanText = (span, of = trace) => span.isRun ?
	`${span.calls.toLocaleString("en")} calls, most of the time ${nameOf(span.func, of)}  ${timeText(span.ns)}` :
	`${nameOf(span.func, of)}  ${timeText(span.ns)}`;

function fold(group) {
	group.folded = !group.folded;
	redraw();
}

/* A button for each kind of lane that there is. */
function addLaneButtons() {
	$("lanes").replaceChildren();
	for (const [kind, text] of Object.entries(LANE_KINDS)) {
		if (!groups.some(group => group.tracks.some(track => track.kind === kind)))
			continue;
		const button = document.createElement("button");
		button.textContent = text;
		button.id = "lane-" + kind;
		button.setAttribute("aria-pressed", String(!hidden.has(kind)));
		button.onclick = () => {
			if (!hidden.delete(kind))
				hidden.add(kind);
			button.setAttribute("aria-pressed", String(!hidden.has(kind)));
			redraw();
		};
		$("lanes").append(button);
	}
}

function addChoices() {
	for (const [by, weight] of Object.entries(WEIGHTS))
		if (traces.some(hasWeight[by]))
			$("by").add(new Option("by " + weight.name, by));
	$("by").hidden = $("by").length < 2;
	$("by").onchange = () => {
		view.by = $("by").value;
		view.zoom = [];
		drawLower();
	};
	traces.forEach((of, i) => $("which").add(new Option(`${"AB"[i]}: ${of.path}`, i)));
	$("which").hidden = traces.length < 2;
	$("which").onchange = () => showTrace(traces[+$("which").value]);
	$("pin").onclick = () => pin({ of: trace, start: seen().start, end: seen().end });
	$("unpin").onclick = () => pin(null);
}

const timeline = $("timeline");
let drag = null;

timeline.addEventListener("wheel", event => {
	event.preventDefault();
	const length = view.end - view.start;
	if (event.altKey) {
		view.top += event.deltaY;
		redraw();
		return;
	}
	if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
		const by = (event.deltaX || event.deltaY) / timeline.clientWidth * length;
		viewSet(view.start + by, view.end + by);
		return;
	}
	const factor = Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300)));
	const at = view.start + event.offsetX / timeline.clientWidth * length;
	viewSet(at - (at - view.start) * factor, at + (view.end - at) * factor);
}, { passive: false });
timeline.addEventListener("pointerdown", event => {
	drag = { selects: event.shiftKey, x: event.clientX, y: event.clientY, start: view.start, end: view.end, top: view.top, moved: false };
	timeline.setPointerCapture(event.pointerId);
});
timeline.addEventListener("pointermove", event => {
	const box = timeline.getBoundingClientRect();
	if (!drag) {
		const hit = hitAt(event.clientX - box.left, event.clientY - box.top);
		tip(event, hit && (hit.kind ? thingText(hit) : spanText(hit)));
		return;
	}
	const by = (drag.x - event.clientX) / timeline.clientWidth * (drag.end - drag.start);
	drag.moved ||= Math.abs(drag.x - event.clientX) + Math.abs(drag.y - event.clientY) > 3;
	if (!drag.moved)
		return;
	if (drag.selects) {
		const timeAt = x => view.start + (x - box.left) / timeline.clientWidth * (view.end - view.start);
		const times = [timeAt(drag.x), timeAt(event.clientX)].sort((a, b) => a - b);
		select({ start: Math.max(times[0], 0), end: Math.min(times[1], lengthOf(trace)) });
		return;
	}
	view.top = drag.top + drag.y - event.clientY;
	viewSet(drag.start + by, drag.end + by);
});
timeline.addEventListener("pointerup", event => {
	const box = timeline.getBoundingClientRect(), group = groupAt(event.clientY - box.top);
	if (drag && !drag.moved && group)
		fold(group);
	else if (drag && !drag.moved)
		pick(hitAt(event.clientX - box.left, event.clientY - box.top));
	drag = null;
});
timeline.addEventListener("dblclick", event => {
	const box = timeline.getBoundingClientRect(), span = hitAt(event.clientX - box.left, event.clientY - box.top);
	if (span)
		viewSet(span.start - (span.end - span.start) * 0.05, span.end + (span.end - span.start) * 0.05);
});
timeline.addEventListener("pointerleave", event => tip(event, ""));
$("flame").addEventListener("pointermove", event => {
	const hit = flameAt(event);
	tip(event, hit && flameText(hit));
});
$("flame").addEventListener("click", event => {
	const hit = flameAt(event);
	if (!hit)
		return;
	view.zoom = pathOf(hit.node);
	drawLower();
	if (hit.node.parent)
		pickFunc(nodeName(hit.node), view.zoom.slice(0, -1).reverse());
	else
		pick(null);
	tip(event, "");
});
$("flame").addEventListener("pointerleave", event => tip(event, ""));
document.addEventListener("keydown", event => {
	const length = view.end - view.start, keys = {
		w: [0.2, -0.2], s: [-0.3, 0.3], a: [-0.2, -0.2], d: [0.2, 0.2], ArrowLeft: [-0.2, -0.2], ArrowRight: [0.2, 0.2],
		ArrowUp: [0.2, -0.2], ArrowDown: [-0.3, 0.3],
	};
	if (event.target === $("search")) {
		if (event.key === "Escape")
			$("search").blur();
		return;
	}
	if (event.key === "/") {
		event.preventDefault();
		$("search").focus();
	} else if (event.key === "PageUp" || event.key === "PageDown") {
		event.preventDefault();
		view.top += (event.key === "PageUp" ? -0.8 : 0.8) * timeline.clientHeight;
		redraw();
	} else if (event.key === "Escape") {
		if (view.selected)
			select(null);
		else if (view.zoom.length > 0)
			view.zoom.pop();
		redraw();
	} else if (event.key === "0") {
		viewSet(0, lengthOf(trace));
	} else if (keys[event.key] && !event.ctrlKey && !event.metaKey) {
		event.preventDefault();
		viewSet(view.start + keys[event.key][0] * length, view.end + keys[event.key][1] * length);
	}
});
function search() {
	view.wanted = $("search").value.trim().toLowerCase();
	wantedByFunc.clear();
	const hits = exactRows().filter(func => isFound(func[0])), others = laneHits();
	$("found").textContent = view.wanted === "" ? "" :
		`${hits.length} functions, ${hits.reduce((n, func) => n + func[1], 0).toLocaleString("en")} calls` +
		(others > 0 ? `, ${others.toLocaleString("en")} in lanes` : "");
	redraw();
}
$("search").addEventListener("input", search);
$("whole").onclick = () => viewSet(0, lengthOf(trace));
for (const [id, other] of [["show-table", "show-flame"], ["show-flame", "show-table"]])
	$(id).onclick = () => {
		$(id).setAttribute("aria-pressed", "true");
		$(other).setAttribute("aria-pressed", "false");
		drawLower();
	};
window.addEventListener("resize", redraw);
window.addEventListener("hashchange", viewFromFragment);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

addChoices();
if (traces.length > 1)
	pinned = { of: traces[0], start: 0, end: lengthOf(traces[0]) };
showTrace(trace);
viewFromFragment();
pin(pinned);
drawLower();
