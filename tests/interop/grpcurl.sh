# grpcurl: reflection, calls, streams, tokens and error details, over TCP and over the Unix socket.
source "$HERE/lib.sh"
source "$HERE/tools.sh"
grpcurl_tool

call() { timeout "$WITHIN" grpcurl -plaintext "$@"; }

lists_services() {
    local listed
    listed=$(call "$@" list)
    grep -qx coop.v1.Coop <<<"$listed"
    grep -qx grpc.health.v1.Health <<<"$listed"
}

describes_bindings() {
    call "$@" describe coop.v1.Coop.SendInput | grep -F 'post: "/api/v1/input"'
}

tells_health() {
    holds '.status == "SESSION_STATE_RUNNING" and .pid > 0' "$(call "$@" coop.v1.Coop/GetHealth)"
    holds '.status == "SERVING"' "$(call -d '{"service":"coop.v1.Coop"}' "$@" grpc.health.v1.Health/Check)"
}

types_and_waits() {
    holds '.bytesWritten == "19"' "$(call -d '{"text":"echo sum-$((40+2))","enter":true}' "$@" coop.v1.Coop/SendInput)"
    holds '.matched and .condition == "text"' "$(call -d '{"text":"sum-42","timeout_ms":15000}' "$@" coop.v1.Coop/Wait)"
    holds 'any(.lines[]; . == "sum-42")' "$(call "$@" coop.v1.Coop/GetScreen)"
}

streams_state_to_the_end() {
    follow_json grpcurl -plaintext "$@" coop.v1.Coop/StreamState
    next_line
    holds '.prev == .next and .next == "AGENT_STATE_KIND_UNKNOWN"' "$LINE"
    call -d '{"text":"exit 3","enter":true}' "$@" coop.v1.Coop/SendInput
    next_that '.next == "AGENT_STATE_KIND_EXITED" and .exit.code == 3'
    unfollow
}

# The reason is readable only when reflection knows google.rpc.ErrorInfo.
says_exited() {
    local said
    said=$(call -format-error -d '{"text":"x"}' "$@" coop.v1.Coop/SendInput 2>&1) && return 1
    holds '.code == 5 and any(.details[]; .reason == "EXITED" and .domain == "coop")' "$said"
}

refused() {
    local said
    said=$(call "$@" 2>&1) && return 1
    echo "$said"
    grep -F Unauthenticated <<<"$said"
}

for way in TCP 'the Unix socket'; do
    start_shell
    where=("$ADDR")
    [ "$way" = TCP ] || where=(-unix "$SOCK")
    check "grpcurl lists the services by reflection over $way" lists_services "${where[@]}"
    check "grpcurl describes a call and its HTTP form over $way" describes_bindings "${where[@]}"
    check "grpcurl reads GetHealth and the standard health check over $way" tells_health "${where[@]}"
    check "grpcurl types, waits for the answer and reads the screen over $way" types_and_waits "${where[@]}"
    check "grpcurl streams the current state first and the exit at the end over $way" streams_state_to_the_end "${where[@]}"
    check "grpcurl shows the reason EXITED in the error details over $way" says_exited "${where[@]}"
done

TOKEN=interop-secret
start_shell --auth-token "$TOKEN"
contract=(-import-path "$ROOT/proto" -proto coop/v1/coop.proto)
check "grpcurl without a token may not ask for the schema" refused "$ADDR" list
check "grpcurl without a token is Unauthenticated" refused "${contract[@]}" "$ADDR" coop.v1.Coop/GetScreen
check "grpcurl with a wrong token is Unauthenticated" \
    refused "${contract[@]}" -H 'authorization: Bearer wrong' "$ADDR" coop.v1.Coop/GetScreen
check "grpcurl with the token lists the services" lists_services -H "authorization: Bearer $TOKEN" "$ADDR"
check "grpcurl with the token types, waits and reads the screen" types_and_waits -H "authorization: Bearer $TOKEN" "$ADDR"
