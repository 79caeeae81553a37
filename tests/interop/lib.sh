# What the suites share: promises, a coop of one's own, streams that are read line by line.
set -uo pipefail

# The longest that one call, one line of a stream, or one end of a process is waited for, in seconds.
WITHIN=20

WORK=$(mktemp -d)
KEPT=0 BROKEN=0
declare -A STARTED=() # pid → file descriptor of its standard output

trap 'exit 143' TERM INT
trap finish EXIT

# Ends what was started and says whether all promises were kept.
finish() {
    local status=$? pid
    for pid in "${!STARTED[@]}"; do kill "$pid" 2>/dev/null; done
    for pid in "${!STARTED[@]}"; do ended "$pid" || kill -9 "$pid" 2>/dev/null; done
    rm -rf "$WORK"
    [ "$status" -eq 0 ] || exit "$status"
    # Said in words: in a trap, a bare `exit` has the status from before the trap, whatever the line above it found.
    if [ "$BROKEN" -gt 0 ] || [ "$KEPT" -eq 0 ]; then exit 1; fi
}

# check PROMISE COMMAND…: the promise is kept if the command succeeds, each step of it; shows what it said if not.
check() {
    local promise=$1 said status
    shift
    # Not in a condition: there bash would not stop at a failing step.
    said=$(trap unfollow EXIT; set -e; "$@" 2>&1)
    status=$?
    if [ "$status" -eq 0 ]; then
        KEPT=$((KEPT + 1))
        echo "ok - $promise"
    else
        BROKEN=$((BROKEN + 1))
        echo "not ok - $promise"
        sed 's/^/#   /' <<<"${said:-it said nothing, status $status}"
    fi
}

# checks_of COMMAND…: a client that prints promises of its own, and ends with 1 if one was broken.
checks_of() {
    local status=0
    "$@" || status=$?
    case $status in
        0) KEPT=$((KEPT + 1)) ;;
        1) BROKEN=$((BROKEN + 1)) ;;
        *) give_up "$* ends by itself: status $status" ;;
    esac
}

# give_up WHAT: without this the suite cannot go on.
give_up() {
    echo "not ok - $1"
    exit 1
}

# start_coop FLAG… -- COMMAND…: sets URL, ADDR, SOCK and PID.
start_coop() {
    local n=${#STARTED[@]} out line
    SOCK=$WORK/coop$n.sock
    mkfifo "$WORK/coop$n.out"
    "$BIN" --port 0 --socket "$SOCK" "$@" >"$WORK/coop$n.out" 2>"$WORK/coop$n.log" &
    PID=$!
    exec {out}<"$WORK/coop$n.out"
    STARTED[$PID]=$out
    read -r -t "$WITHIN" -u "$out" line || give_up "coop starts: $(tail -n 3 "$WORK/coop$n.log")"
    URL=$(jq -r .url <<<"$line")
    ADDR=${URL#http://}
}

# start_shell FLAG…: a coop with a bash that has printed its prompt, `ready>`.
start_shell() {
    start_coop "$@" --env 'PS1=ready> ' -- bash --norc
    local matched=(curl -sS --max-time "$WITHIN" --unix-socket "$SOCK" http://coop/api/v1/wait -d '{"text":"ready>"}')
    [ -z "${TOKEN:-}" ] || matched+=(-H "authorization: Bearer $TOKEN")
    "${matched[@]}" | jq -e .matched >/dev/null || give_up "a shell inside coop shows its prompt"
}

# ended PID: waits for the end of a coop; its exit status is in STATUS. Not for a subshell, which has no children.
ended() {
    local out=${STARTED[$1]} line got=0
    while [ "$got" -eq 0 ]; do
        read -r -t "$WITHIN" -u "$out" line
        got=$?
    done
    # Beyond 128 it was the time that ran out, not the output that ended.
    [ "$got" -le 128 ] || { STATUS=unknown; return 1; }
    wait "$1" 2>/dev/null
    STATUS=$?
}

# follow COMMAND…: runs a client in the background; `next_line` reads what it prints. It is ended by `unfollow`, or
# with the check.
FOLLOWED=
follow() {
    local pipe
    pipe=$(mktemp -u "$WORK/follow.XXXXXX")
    mkfifo "$pipe"
    timeout "$WITHIN" "$@" >"$pipe" 2>"$WORK/follow.err" &
    FOLLOWED=$!
    exec 9<"$pipe"
}

# follow_json COMMAND…: the same, one JSON message for each line.
follow_json() {
    local raw
    follow "$@"
    raw=$(mktemp -u "$WORK/follow.XXXXXX")
    mkfifo "$raw"
    jq --unbuffered -c . <&9 >"$raw" 2>/dev/null &
    exec 9<"$raw"
}

next_line() {
    read -r -t "$WITHIN" -u 9 LINE || { echo "no further line: $(cat "$WORK/follow.err")"; return 1; }
    echo "$LINE"
}

# next_that FILTER: skips lines until one fulfils the jq filter; it is in LINE.
next_that() {
    local deadline=$((SECONDS + WITHIN))
    while [ "$SECONDS" -lt "$deadline" ]; do
        next_line
        ! jq -e "$1" <<<"$LINE" >/dev/null 2>&1 || return 0
    done
    echo "no line fulfils $1"
    return 1
}

unfollow() {
    [ -z "$FOLLOWED" ] || kill "$FOLLOWED" 2>/dev/null || true
    FOLLOWED=
    exec 9<&-
}

# commands_of README: what its first block of commands says to type.
commands_of() {
    awk '/^```console$/ {n++; next} /^```/ && n {exit} n && sub(/^\$ /, "")' "$1"
}

# block_of LANGUAGE README: the first block of a language.
block_of() {
    awk -v fence="\`\`\`$1" '$0 == fence {n++; next} /^```/ && n {exit} n' "$2"
}

# holds FILTER TEXT: the jq filter is true of the text, which is shown.
holds() {
    echo "$1 must hold of: $2"
    jq -e "$1" <<<"$2" >/dev/null
}
