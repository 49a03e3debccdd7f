#!/usr/bin/env bash
# The queue: claim-and-complete beside a bare SQLite loop, its fsyncs, and jobs queued and drained.
set -eu
if [ "${1:-}" = "--help" ]; then
    cat <<'TXT'
usage: tests/bench/queue.sh [--long]

  claim  durable (synchronous=FULL) claim-and-complete in batches of at most 32, verdict rows included,
         beside a bare SQLite loop with prepared statements that writes the same rows, in one run;
         required: 18,500 tasks/s or a third of the loop's rate, whichever is less (exit code 1 if not)
  strace the fsyncs of that, where strace is installed
  drain  jobs whose tasks only burn processor time (2 ms each): the server's own, beside theirs
  real   jobs over a small trace with foretell-worker, whose verdicts carry witnesses

The workers' time is the processor time of all worker processes, starts included; the server's is that
of the process that runs store and dispatcher (both threads), from the first job to the last one's end.
--long drains 1,000 jobs of 1,000 tasks (half an hour of two idle cores). FT_BUILD: the build folder.
`bin/queue file JOBS TRACE` is `real` over a trace of your own.
TXT
    exit 0
fi
cd "$(dirname "$0")/../.."
build=${FT_BUILD:-build}
[ -f "$build/CMakeCache.txt" ] || cmake --preset release >/dev/null
cmake --build "$build" --target queue foretell-worker >/dev/null
queue=$build/bin/queue
"$queue" claim 20000
if command -v strace >/dev/null; then
    echo
    strace -f -c -e trace=fsync,fdatasync "$queue" strace 3200 2>&1 | grep -E 'tasks|calls|sync'
fi
echo
if [ "${1:-}" = "--long" ]; then "$queue" drain 1000 1000 2000; else "$queue" drain 40 100 2000; fi
echo
"$queue" real 5 20
