#!/usr/bin/env bash
# Makes the page's suite ready to run – browser, packages, scripts – and prints where: `tests/interop/page/ready.sh`.
#
#   COOP_INTEROP_CACHE, CHROMIUM   as for tests/interop/run
set -uo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${COOP_INTEROP_CACHE:-$(cd "$HERE/../.." && pwd)/target/interop}
mkdir -p "$CACHE" && CACHE=$(cd "$CACHE" && pwd) || exit 1
give_up() {
    echo "not ok - $1" >&2
    exit 1
}
source "$HERE/tools.sh"
CHROMIUM=${CHROMIUM:-/usr/bin/chromium}
[ -x "$CHROMIUM" ] || need_debian "$CHROMIUM" chromium
need_debian tmux tmux
npm_tools >&2

mkdir -p "$CACHE/page"
cp "$HERE"/page/*.mjs "$HERE/../../clients/testdata/agent" "$CACHE/page/"
mkdir -p "$CACHE/page/logs"
FIXTURES=$HERE/../fixtures
cp "$FIXTURES"/claude/logs/session-after-compact.jsonl "$CACHE/page/logs/claude.jsonl"
cp "$FIXTURES"/codex/logs/rollout-*.jsonl "$CACHE/page/logs/codex.jsonl"
cp "$FIXTURES"/gemini/logs/session-tools-ask.jsonl "$CACHE/page/logs/gemini.jsonl"
cp "$FIXTURES"/codex/screens/setup-api-key.txt "$CACHE/page/logs/codex-key.txt"
ln -sfn "$CACHE/npm/node_modules" "$CACHE/page/node_modules"
# The page of all boxes has a suite of its own, which stands on this one.
mkdir -p "$CACHE/boxes"
cp "$HERE"/boxes/*.mjs "$HERE/../../clients/testdata/agent" "$CACHE/boxes/"
ln -sfn "$CACHE/npm/node_modules" "$CACHE/boxes/node_modules"
echo "$CACHE/page"
