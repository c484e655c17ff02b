# SPDX-License-Identifier: MIT
# Count tests from automake's .trs files and the .log beside each: prints "PASSED FAILED SKIPPED".
#
# A log counts by its own lines: cmocka's, or a last line "N passed, N failed, N skipped";
# any other log is one test with the result of its .trs.  A .trs with FAIL always counts one failure
# at least, so a test program that crashed halfway is seen.

function take_trs(file,    line, result) {
    result = "FAIL"
    while ((getline line < file) > 0)
        if (line ~ /^:global-test-result: /)
            result = substr(line, 22)
    close(file)
    sub(/^ +/, "", result)
    return result
}

function take_log(file,    line, field) {
    ok = bad = skip = 0
    in_summary = 0
    while ((getline line < file) > 0) {
        if (line ~ /^\[==========\] .* run\./)
            in_summary = 1
        else if (!in_summary && line ~ /^\[       OK \] /)
            ok++
        else if (!in_summary && line ~ /^\[  FAILED  \] /)
            bad++
        else if (!in_summary && line ~ /^\[  SKIPPED \] /)
            skip++
        else if (line ~ /^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/) {
            split(line, field, " ")
            ok = field[1]; bad = field[3]; skip = field[5]
        }
    }
    close(file)
}

BEGIN {
    for (i = 1; i < ARGC; i++) {
        result = take_trs(ARGV[i])
        log_file = ARGV[i]
        sub(/\.trs$/, ".log", log_file)
        take_log(log_file)
        if (result == "PASS" || result == "XFAIL") {
            passed += ok + bad + skip > 0 ? ok : 1
            failed += bad
            skipped += skip
        } else if (result == "SKIP") {
            skipped += skip > 0 ? skip : 1
        } else {
            passed += ok
            failed += bad > 0 ? bad : 1
            skipped += skip
        }
    }
    printf "%d %d %d\n", passed, failed, skipped
}
