"use strict";
const trace = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const ROW = 17, HEAD = 20, AXIS = 22, NOT_RUNNING = 0, REST = -2;

function timeText(ns) {
	for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]])
		if (ns >= size)
			return (ns / size).toFixed(3) + " " + unit;
	return Math.round(ns) + " ns";
}

const nameOf = func => func === NOT_RUNNING ? "(not running)" : func === REST ? "(short calls)" : trace.funcs[func - 1][0];

/* Of a text, so that what it is drawn in is always the same. */
function hashOf(text) {
	let hash = 0x811c9dc5;

	for (const c of text)
		hash = Math.imul(hash ^ c.charCodeAt(0), 0x01000193);
	return Math.imul(hash ^ hash >>> 15, 0x9e3779b1) >>> 0;
}
