#!/usr/bin/env bash
# The CI templates do what they say, as far as that can be seen without the sites: their shell steps are
# taken from the files and run with the environment that each system sets. FORETELL_BIN: the folder of
# the programs.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD
bin=$(cd "${FORETELL_BIN:-build/bin}" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
unset FORETELL_SERVER
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1

fail() { echo "$*"; [ ! -e "$out/said" ] || tail -n 30 "$out/said"; exit 1; }

# expect CODE COMMAND...
expect() {
    local want=$1 code=0
    shift
    "$@" >"$out/said" 2>&1 </dev/null || code=$?
    [ "$code" = "$want" ] || fail "exit code $code, not $want: $*"
}

# A project with Foretell beside its sources, and the traces of a test run.
project=$out/project
mkdir -p "$project/traces" "$project/.foretell"
ln -s "$here" "$project/foretell"
cp examples/bank.c "$project/bank.c"
cp examples/bank.ndjson "$project/traces/bank run.ndjson"
export FORETELL=$bin/foretell

python=python3
[ -x /usr/bin/python3 ] && python=/usr/bin/python3
steps() { "$python" "$here/tests/check/ci_steps.py" "$@"; }

# ---- the script ----
cd "$project"
expect 1 sh foretell/clients/ci/check
for report in foretell.sarif junit.xml gl-code-quality.json report.html summary.md report.json; do
    [ -s "foretell-report/$report" ] || fail "no $report"
done
expect 2 env FORETELL_TRACES='none/*' sh foretell/clients/ci/check
expect 2 env FORETELL=/nowhere sh foretell/clients/ci/check
expect 0 env FORETELL_FAIL_ON=deadlock sh foretell/clients/ci/check
"$FORETELL" check -q --write-baseline .foretell/baseline.txt traces/* >/dev/null || true
expect 0 env FORETELL_BASELINE=.foretell/baseline.txt sh foretell/clients/ci/check
mv .foretell/baseline.txt .foretell/kept.txt

# ---- GitHub: the composite action's steps, with its inputs' defaults and a runner's variables ----
github() { # CODE [INPUT=VALUE]...
    local want=$1
    shift
    : >"$out/summary" >"$out/outputs"
    steps github "$here/clients/ci/github/action.yml" "foretell=$bin/foretell" "$@" >"$out/step.sh"
    expect "$want" env CI=true GITHUB_ACTIONS=true GITHUB_WORKSPACE="$project" \
        GITHUB_ACTION_PATH="$project/foretell/clients/ci/github" GITHUB_STEP_SUMMARY="$out/summary" \
        GITHUB_OUTPUT="$out/outputs" bash -eo pipefail "$out/step.sh"
}
github 1
grep -q '^::error title=.*,file=bank.c,line=' "$out/said" || fail "no annotation"
grep -q '^## Foretell: ' "$out/summary" || fail "no job summary"
grep -qx 'exit-code=1' "$out/outputs" || fail "no output"
github 0 fail-on=race
cp .foretell/kept.txt .foretell/baseline.txt
github 0
grep -q '; 0 new, 2 known' "$out/summary" || fail "the baseline is not used"
grep -q '^::error' "$out/said" && fail "known findings are annotated as errors"
rm .foretell/baseline.txt

# ---- GitLab ----
gitlab() { # CODE [VARIABLE=VALUE]...
    local want=$1
    shift
    steps gitlab "$here/clients/ci/gitlab/foretell.gitlab-ci.yml" .foretell "$@" >"$out/step.sh"
    expect "$want" env CI=true GITLAB_CI=true CI_PROJECT_DIR="$project" bash -eo pipefail "$out/step.sh"
}
rm -rf foretell-report
gitlab 1
gitlab 0 FORETELL_FAIL_ON=lock
for artifact in $(steps artifacts "$here/clients/ci/gitlab/foretell.gitlab-ci.yml" .foretell); do
    [ -e "$artifact" ] || fail "the template names $artifact, which is not there"
done

# ---- Jenkins ----
steps jenkins "$here/clients/ci/jenkins/Jenkinsfile" >"$out/step.sh"
expect 1 env JENKINS_URL=http://localhost/ WORKSPACE="$project" sh -e "$out/step.sh"

# ---- the hook, in a repository with a remote ----
rm foretell
git init -q -b main .
git init -q --bare "$out/remote.git"
git remote add origin "$out/remote.git"
git -c user.name=a -c user.email=a@localhost commit -q --allow-empty -m one
ln -s "$here/clients/ci/hooks/pre-push" .git/hooks/pre-push
expect 1 git push -q origin main
grep -q 'Assertion failure' "$out/said" || fail "the hook does not say what it found"
cp .foretell/kept.txt .foretell/baseline.txt
expect 0 git push -q origin main
rm .foretell/baseline.txt traces/*
git -c user.name=a -c user.email=a@localhost commit -q --allow-empty -m two
expect 0 git push -q origin main
