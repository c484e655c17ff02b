"use strict";
/* One, or two that are compared: then the first is A.  The one that is shown is trace. */
const traces = [...document.querySelectorAll("script[type='application/json']")].map(e => JSON.parse(e.textContent));
let trace = traces[traces.length - 1];
const $ = id => document.getElementById(id);
const ROW = 17, HEAD = 20, AXIS = 22, NOT_RUNNING = 0, REST = -2;

function timeText(ns) {
	for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]])
		if (ns >= size)
			return (ns / size).toFixed(3) + " " + unit;
	return Math.round(ns) + " ns";
}

const nameOf = (func, of = trace) => func === NOT_RUNNING ? "(not running)" : func === REST ? "(short calls)" : of.funcs[func - 1][0];

/* Of a text, so that what it is drawn in is always the same. */
function hashOf(text) {
	let hash = 0x811c9dc5;

	for (const c of text)
		hash = Math.imul(hash ^ c.charCodeAt(0), 0x01000193);
	return Math.imul(hash ^ hash >>> 15, 0x9e3779b1) >>> 0;
}
