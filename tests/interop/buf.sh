# buf: the contract lints, is formatted, builds without a network and breaks nobody; buf curl calls it.
source "$HERE/lib.sh"
source "$HERE/tools.sh"
npm_tools
cd "$ROOT"

builds() {
    offline buf build --output "$WORK/contract.binpb"
    test -s "$WORK/contract.binpb"
}

# An earlier contract: main's, or in a shallow clone, which may know no main, the commit that is checked out.
earlier() {
    local commit
    for commit in main origin/main HEAD; do
        git cat-file -e "$commit:buf.yaml" 2>/dev/null && echo "$commit" && return
    done
}

breaks_nobody() {
    mkdir "$WORK/earlier"
    git archive "$1" buf.yaml proto | tar -x -C "$WORK/earlier"
    offline buf breaking --against "$WORK/earlier"
}

check "buf lint finds nothing" offline buf lint
check "buf format finds nothing" offline buf format --diff --exit-code
check "buf build needs no network" builds
need_debian git git
since=$(earlier)
if [ -n "$since" ]; then
    check "buf breaking finds nothing against $since" breaks_nobody "$since"
else
    echo "# no commit holds an earlier contract: nothing to compare with"
fi

call() { offline buf curl --http2-prior-knowledge "$@"; }

# Each takes where, and then options of buf curl.
reads_health() {
    holds '.status == "SESSION_STATE_RUNNING"' "$(call "${@:2}" "$1/coop.v1.Coop/GetHealth")"
}

streams_state() {
    follow_json buf curl --http2-prior-knowledge "${@:2}" "$1/coop.v1.Coop/StreamState"
    next_line
    holds '.prev == .next and .next == "AGENT_STATE_KIND_UNKNOWN"' "$LINE"
    call -d '{"text":"exit 5","enter":true}' "${@:2}" "$1/coop.v1.Coop/SendInput"
    next_that '.next == "AGENT_STATE_KIND_EXITED" and .exit.code == 5'
    unfollow
}

reads_health_http1() {
    holds '.status == "SESSION_STATE_RUNNING"' "$(offline buf curl --protocol grpcweb --schema "$ROOT" "$1/coop.v1.Coop/GetHealth")"
}

for protocol in grpc grpcweb; do
    for way in TCP 'the Unix socket'; do
        start_shell
        where=("$URL")
        [ "$way" = TCP ] || where=(http://localhost --unix-socket "$SOCK")
        check "buf curl speaks $protocol by reflection over $way" reads_health "${where[@]}" --protocol "$protocol"
        check "buf curl streams states with $protocol over $way" streams_state "${where[@]}" --protocol "$protocol"
    done
done
start_shell
check "buf curl speaks grpcweb over HTTP/1.1" reads_health_http1 "$URL"
for version in grpc-v1 grpc-v1alpha; do
    check "buf curl finds the schema by reflection $version" reads_health "$URL" --protocol grpc --reflect-protocol "$version"
done
