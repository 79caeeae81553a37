# curl: every way in which curl speaks HTTP, against the JSON face.
source "$HERE/lib.sh"
source "$HERE/tools.sh"

ask() { curl -sS --max-time "$WITHIN" "$@"; }

http1() {
    holds '.status == "running"' "$(ask --http1.1 -w '' "$URL/api/v1/health")"
    [ "$(ask --http1.1 -o /dev/null -w '%{http_version}' "$URL/api/v1/health")" = 1.1 ]
}

http1_0() {
    holds '.status == "running"' "$(ask --http1.0 "$URL/api/v1/health")"
}

http2() {
    holds '.status == "running"' "$(ask --http2-prior-knowledge "$URL/api/v1/health")"
    [ "$(ask --http2-prior-knowledge -o /dev/null -w '%{http_version}' "$URL/api/v1/health")" = 2 ]
}

# curl asks to upgrade; a server may stay at HTTP/1.1.
http2_upgrade() {
    holds '.status == "running"' "$(ask --http2 "$URL/api/v1/health")"
}

unix_socket() {
    holds '.state == "running"' "$(ask --unix-socket "$SOCK" http://localhost/api/v1/status)"
    holds '.state == "running"' "$(ask --unix-socket "$SOCK" --http2-prior-knowledge http://localhost/api/v1/status)"
    [ "$(stat -c %a "$SOCK")" = 600 ]
}

plain_data() {
    holds '.bytes_written == 20' "$(ask "$URL/api/v1/input" -d '{"text":"echo plain-$((1+1))","enter":true}')"
    holds '.matched' "$(ask "$URL/api/v1/wait" -d '{"text":"plain-2"}')"
    ask "$URL/api/v1/screen/text" | grep -x plain-2
}

query() {
    holds '.matched' "$(ask -G "$URL/api/v1/wait" --data-urlencode 'text=ready>' -d timeout_ms=5000)"
}

chunked() {
    local answer
    answer=$(ask -v -H 'Transfer-Encoding: chunked' "$URL/api/v1/input" -d '{"text":"echo chunked-$((2+1))","enter":true}' 2>"$WORK/chunked")
    holds '.bytes_written == 22' "$answer"
    grep -i '^> transfer-encoding: chunked' "$WORK/chunked"
    holds '.matched' "$(ask "$URL/api/v1/wait" -d '{"text":"chunked-3"}')"
}

head_only() {
    local headers body
    headers=$(ask -I "$URL/api/v1/screen" | tr -d '\r')
    body=$(ask "$URL/api/v1/screen" | wc -c)
    echo "$headers, body $body"
    grep -x 'HTTP/1.1 200 OK' <<<"$headers"
    grep -ix "content-length: $body" <<<"$headers"
}

keep_alive() {
    local connects
    connects=$(ask -w '%{num_connects} ' -o /dev/null "$URL/api/v1/health" -o /dev/null "$URL/api/v1/screen" -o /dev/null "$URL/nowhere")
    echo "$connects"
    [ "$connects" = "1 0 0 " ]
}

refuses() { # refuses STATUS CODE ARGUMENT…
    local status=$1 code=$2 said
    shift 2
    said=$(ask -w '\n%{http_code}' "$@")
    echo "$said"
    [ "${said##*$'\n'}" = "$status" ]
    holds ".error.code == \"$code\" and (.error.message | length > 0)" "${said%$'\n'*}"
}

ndjson() {
    follow curl -sSN --max-time "$WITHIN" "$URL/api/v1/stream/events?mode=screen"
    next_line
    ask "$URL/api/v1/input" -d '{"text":"echo line-$((3+1))","enter":true}'
    next_that '.event == "screen" and any(.lines[]; . == "line-4")'
    unfollow
}

# sse PATH HEADER…: the first event's id is in ID, its data in LINE.
sse() {
    local path=$1 deadline=$((SECONDS + WITHIN))
    shift
    follow curl -sSN --max-time "$WITHIN" -H 'Accept: text/event-stream' "$@" "$URL$path"
    ID=
    while [ "$SECONDS" -lt "$deadline" ]; do
        next_line
        case $LINE in
            'id: '*) ID=${LINE#id: } ;;
            'data: '*) LINE=${LINE#data: }; break ;;
        esac
    done
    unfollow
}

server_sent_events() {
    sse /api/v1/stream/state
    [ "$ID" = "$(jq .seq <<<"$LINE")" ]
    holds '.prev == .next' "$LINE"
}

resumes_output() {
    local last
    last=$(ask "$URL/api/v1/status" | jq .bytes_read)
    ask "$URL/api/v1/input" -d '{"text":"echo resumed","enter":true}'
    holds '.matched' "$(ask "$URL/api/v1/wait" -d '{"regex":"^resumed$"}')"
    sse /api/v1/stream/output -H "Last-Event-ID: $last"
    holds ".offset == $last and .gap == null" "$LINE"
    [ "$ID" -gt "$last" ]
}

resumes_states() {
    sse /api/v1/stream/state
    ask "$URL/api/v1/input" -d '{"text":"exit 4","enter":true}'
    holds '.exit.code == 4' "$(ask "$URL/api/v1/wait" -d '{"exited":true}')"
    sse /api/v1/stream/state -H "Last-Event-ID: $ID"
    holds '.next == "exited" and .exit.code == 4' "$LINE"
}

# The body is sent only after the server said that it wants it.
expect_continue() {
    local answer
    head -c 2000000 /dev/zero | tr '\0' x >"$WORK/body"
    answer=$(ask -v --expect100-timeout "$WITHIN" -H 'Expect: 100-continue' -H 'Content-Type: application/octet-stream' \
        --data-binary "@$WORK/body" "$URL/api/v1/input/raw" 2>"$WORK/continue")
    grep '^< HTTP/1.1 100 Continue' "$WORK/continue"
    holds '.bytes_written == 2000000' "$answer"
    holds '.matched' "$(ask "$URL/api/v1/wait" -d '{"text":"took 2000000"}')"
}

refused_unread() {
    head -c 20000000 /dev/zero >"$WORK/body"
    refuses 413 TOO_LARGE -H 'Content-Type: application/octet-stream' --data-binary "@$WORK/body" "$URL/api/v1/input/raw"
    refuses 413 TOO_LARGE --data-binary "@$WORK/body" "$URL/api/v1/input"
}

locks() {
    local id
    id=$(ask "$URL/api/v1/lock" -d '{"ttl_secs":30}' | jq -er .lock_id)
    refuses 409 WRITER_BUSY "$URL/api/v1/input" -d '{"text":"x"}'
    holds '.bytes_written == 0' "$(ask -H "coop-lock: $id" "$URL/api/v1/input" -d '{"text":""}')"
    holds '.released' "$(ask -X DELETE -H "coop-lock: $id" "$URL/api/v1/lock")"
}

start_shell
check "curl speaks HTTP/1.1" http1
check "curl speaks HTTP/1.0" http1_0
check "curl speaks HTTP/2 with prior knowledge" http2
check "curl that offers to upgrade to HTTP/2 is served" http2_upgrade
check "curl speaks both over the Unix socket, which is ours alone" unix_socket
check "curl -d needs no content type" plain_data
check "curl -G gives a request as parameters" query
check "curl uploads in chunks" chunked
check "curl -I gets the headers of the GET, and no body" head_only
check "curl keeps one connection for several calls, errors too" keep_alive
check "curl takes the lock, which keeps others out" locks
check "curl is told about a wrong verb" refuses 405 METHOD_NOT_ALLOWED -X PUT "$URL/api/v1/input" -d '{}'
check "curl is told about a wrong path" refuses 404 NOT_FOUND "$URL/api/v1/nowhere"
check "curl is told about a wrong field" refuses 400 BAD_REQUEST "$URL/api/v1/input" -d '{"txet":"a"}'
check "curl is told about a wrong host" refuses 403 FORBIDDEN -H 'Host: evil.example' "$URL/api/v1/screen"
check "curl is told about too large a body" refused_unread
check "curl -N reads a stream as JSON lines" ndjson
check "curl reads server-sent events with ids" server_sent_events
check "curl resumes output at Last-Event-ID, to the byte" resumes_output
check "curl resumes states at Last-Event-ID" resumes_states
check "curl is told that the child is gone" refuses 410 EXITED "$URL/api/v1/input" -d '{"text":"a"}'

start_coop -- sh -c 'stty raw -echo; echo reading; head -c 2000000 >/dev/null; echo took 2000000; exec cat'
ask "$URL/api/v1/wait" -d '{"text":"reading"}' >/dev/null
check "curl sends 2 MB of raw bytes after 100 Continue" expect_continue

TOKEN=interop-secret
start_shell --auth-token "$TOKEN"
check "curl without the token is told so" refuses 401 UNAUTHORIZED "$URL/api/v1/screen"
check "curl with the token reads the screen" ask -f -H "Authorization: Bearer $TOKEN" "$URL/api/v1/screen/text"
check "curl --oauth2-bearer is a token too" ask -f --oauth2-bearer "$TOKEN" "$URL/api/v1/screen/text"
check "curl reads health without a token" ask -f "$URL/api/v1/health"
