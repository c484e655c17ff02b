// SPDX-License-Identifier: MIT
// Sums of the rows of a trace by DuckDB, as "function calls total self" lines, from a Parquet file that it makes
// of them (FILE.parquet): duckdb.mjs FILE (.csv or .jsonl).
// Needs npm's package @duckdb/node-api; tests/real/fleet installs it.
import { DuckDBInstance } from "@duckdb/node-api";

const file = process.argv[2].replaceAll("'", "''");
const read = file.endsWith(".csv") ? `read_csv('${file}')` : `read_json('${file}', format = 'newline_delimited')`;
const connection = await (await DuckDBInstance.create(":memory:")).connect();
await connection.run(`COPY (FROM ${read}) TO '${file}.parquet' (COMPRESSION zstd)`);
const answer = await connection.runAndReadAll(
    `SELECT function, count(*), sum(CASE WHEN flags & 8 != 0 THEN 0 ELSE duration END)::BIGINT, sum(self)::BIGINT
     FROM '${file}.parquet' GROUP BY function ORDER BY function`);
for (const row of answer.getRows())
    console.log(row.join(" "));
