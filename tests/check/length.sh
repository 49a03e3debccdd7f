#!/usr/bin/env bash
# Functions over 60 lines are reported, over 80 refused; files over 900 lines are refused. A
# function's body is what clang-format leaves between a line "{" and a line "}".
set -euo pipefail
cd "$(dirname "$0")/../.."
find common worker server clients tests -name '*.[ch]' -print0 | sort -z |
    xargs -0 awk '
        function over(most, what) { printf "%s:%d: %s of %d lines, %d at most\n", FILENAME, start, what, length_, most }
        FNR == 1 { if (name && lines > 900) { printf "%s: %d lines, 900 at most\n", name, lines; bad = 1 }; name = FILENAME; start = 0 }
        { lines = FNR }
        /^\{$/ { start = FNR }
        /^\}$/ && start { length_ = FNR - start + 1
                          if (length_ > 80) { over(80, "a function"); bad = 1 }
                          else if (length_ > 60) over(60, "a function (only reported)")
                          start = 0 }
        END { if (lines > 900) { printf "%s: %d lines, 900 at most\n", name, lines; bad = 1 }; exit bad }'
