function exactRows() {
	return trace.funcs.filter(func => func && func[1] > 0);
}

function rangeRows(funcs) {
	return [...funcs].filter(([func]) => func !== NOT_RUNNING)
		.map(([func, s]) => [nameOf(func), s.calls, s.total, s.self, s.least, s.most]);
}

const columns = [["total", 2], ["self", 3], ["calls", 1], ["least", 4], ["most", 5], ["function", 0]];

function drawTable(rows) {
	const key = view.sort, sign = view.down ? -1 : 1;
	const table = document.createElement("table"), head = table.createTHead().insertRow();

	rows.sort((a, b) => sign * (key === 0 ? (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0) : a[key] - b[key]));
	for (const [text, column] of columns) {
		const th = document.createElement("th");
		th.textContent = text + (key === column ? (view.down ? " ▾" : " ▴") : "");
		th.onclick = () => {
			view.down = view.sort === column ? !view.down : column !== 0;
			view.sort = column;
			drawLower();
		};
		head.append(th);
	}
	const body = table.createTBody();
	for (const row of rows.slice(0, 2000)) {
		const tr = body.insertRow();
		for (const [, column] of columns)
			tr.insertCell().textContent = column === 0 || column === 1 ? row[column] : timeText(row[column]);
		if (view.wanted !== "" && row[0].toLowerCase().includes(view.wanted))
			tr.className = "hit";
	}
	$("table").replaceChildren(table);
}
