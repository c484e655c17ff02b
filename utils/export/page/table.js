function exactRows(of = trace) {
	return of.funcs.filter(func => func && func[1] > 0);
}

function rangeRows(funcs, of) {
	return [...funcs].filter(([func]) => func !== NOT_RUNNING)
		.map(([func, s]) => [nameOf(func, of), s.calls, s.total, s.self, s.least, s.most]);
}

/* Columns: head, where it is in rows, its text.  What they are sorted by is kept for each kind of table. */
function columnsBy(by) {
	const { text, nr } = WEIGHTS[by], own = [["total", 2, text], ["self", 3, text], [nr, 1]];

	return [...own, ...(by === "time" && view.zoom.length === 0 ? [["least", 4, text], ["most", 5, text]] : []), ["function", 0]];
}

function pairColumns(by) {
	const { text, nr } = WEIGHTS[by], more = value => signed(value, text);

	return [["A total", 3, text], ["B total", 4, text], ["more", 5, more], ["A self", 6, text], ["B self", 7, text],
		["self more", 8, more], ["A " + nr, 1], ["B " + nr, 2], ["function", 0]];
}

function compareRows(a, b, { column, down }) {
	if (column === 0)
		return (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0) * (down ? -1 : 1);
	/* Of differences the greatest first, whichever way. */
	const differs = a.length === 9 && (column === 5 || column === 8), size = v => differs ? Math.abs(v) : v;
	return (size(a[column]) - size(b[column])) * (down ? -1 : 1);
}

function drawTable(rows, columns, kind) {
	const sort = view.sorts[kind] ||= { column: kind === "pair" ? 5 : 2, down: true };
	const table = document.createElement("table"), head = table.createTHead().insertRow();

	rows.sort((a, b) => compareRows(a, b, sort));
	for (const [text, column] of columns) {
		const th = document.createElement("th");
		th.textContent = text + (sort.column === column ? (sort.down ? " ▾" : " ▴") : "");
		th.onclick = () => {
			sort.down = sort.column === column ? !sort.down : column !== 0;
			sort.column = column;
			drawLower();
		};
		head.append(th);
	}
	const body = table.createTBody();
	for (const row of rows.slice(0, 2000)) {
		const tr = body.insertRow();
		for (const [, column, text] of columns)
			tr.insertCell().textContent = text ? text(row[column]) : row[column];
		if (isFound(row[0]))
			tr.className = "hit";
		tr.onclick = () => pickFunc(row[0]);
	}
	$("table").replaceChildren(table);
}
