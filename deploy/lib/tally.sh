# shellcheck shell=bash
# Runs checks one after the other, and counts what passed. Sourced, never run.

passed=0
failed=0
skipped=0
# What failed, a line each.
failures=()
# Where the output of checks is kept.
log_folder=${log_folder:-.build/check-logs}

# tenths: the time in tenths of a second.
tenths() {
    local now=${EPOCHREALTIME/[.,]/}
    echo $((now / 100000))
}

# seconds_since TENTHS: what has passed since, as "3.4".
seconds_since() {
    local passed_by=$(($(tenths) - $1))
    echo "$((passed_by / 10)).$((passed_by % 10))"
}

# run_check COMMAND...: a command that counts as one check; its exit code 77 says that it could
# not run here, and its last line why.
run_check() {
    local start log
    start=$(tenths)
    log=$log_folder/$(tr -c 'A-Za-z0-9\n' '-' <<<"${*:1:2}").log
    mkdir -p "$log_folder"
    if "$@" >"$log" 2>&1; then
        passed=$((passed + 1))
        echo "   passed: $* ($(seconds_since "$start") s)"
    else
        local status=$?
        if [[ $status -eq 77 ]]; then
            skipped=$((skipped + 1))
            echo "   skipped: $*: $(tail -n 1 "$log")"
            return
        fi
        failed=$((failed + 1))
        failures+=("$*")
        tail -n 40 "$log" | sed 's/^/      /'
        echo "   FAILED: $* (exit $status, $(seconds_since "$start") s; all of it: $log)"
    fi
}

# count_cases FILE: "passed failed skipped" of the test cases in a report in xUnit's format.
#
# The report's own numbers count issues, of which a case may have many, so cases are counted here.
count_cases() {
    awk '
        function close_case() {
            if (open) { total[state]++ }
            open = 0
        }
        /<testcase / { close_case(); open = 1; state = "passed" }
        /<failure/ && open { state = "failed" }
        /<skipped/ && open { state = "skipped" }
        /<\/testsuite>/ { close_case() }
        END { printf "%d %d %d\n", total["passed"], total["failed"], total["skipped"] }
    ' "$1"
}

# run_tests TARGET: the tests of a target that is built already.
run_tests() {
    local start target=$1 report log status=0 counts case_passed=0 case_failed=0 case_skipped=0
    start=$(tenths)
    report=$log_folder/$target.xml
    log=$log_folder/$target.log
    mkdir -p "$log_folder"
    rm -f "$report"
    swift test --skip-build --disable-xctest --filter "^$target\\." --xunit-output "$report" \
        >"$log" 2>&1 || status=$?
    if [[ -s $report ]]; then
        counts=$(count_cases "$report")
        read -r case_passed case_failed case_skipped <<<"$counts"
    fi
    # A crash leaves no report, or one that knows nothing of it.
    if [[ $status -ne 0 && $case_failed -eq 0 ]]; then
        case_failed=1
    fi
    passed=$((passed + case_passed))
    failed=$((failed + case_failed))
    skipped=$((skipped + case_skipped))
    if [[ $case_failed -gt 0 ]]; then
        failures+=("$target")
        grep -E '^↳|recorded an issue|rror:|atal' "$log" | grep -vE '^↳ (Testing|Target)' \
            | head -n 40 | cut -c 1-400 | sed 's/^/      /'
        echo "      (exit $status; all of it: $log)"
    fi
    grep -E '^➜ .* skipped: ' "$log" | sed 's/^➜ /      skipped: /; s/ skipped: / /2' || true
    echo "   $target: $case_passed passed, $case_failed failed, $case_skipped skipped" \
        "($(seconds_since "$start") s)"
}

# print_totals: the last lines; fails if anything failed.
print_totals() {
    local name totals="$passed passed, $failed failed"
    for name in "${failures[@]}"; do
        echo "failed: $name"
    done
    [[ $skipped -eq 0 ]] || totals+=", $skipped skipped"
    echo "$totals"
    [[ $failed -eq 0 ]]
}
