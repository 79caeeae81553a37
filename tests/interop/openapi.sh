# OpenAPI: the page is valid 3.1, and the read-only calls do what it says.
source "$HERE/lib.sh"
source "$HERE/tools.sh"
python_tools

is_3_1() {
    curl -sSf --max-time "$WITHIN" "$URL/openapi.json" >"$WORK/openapi.json"
    holds '.openapi | startswith("3.1")' "$(cat "$WORK/openapi.json")" | tail -c 300
}

# Streams and WebSockets never end, and Wait may take its time: only calls that read and return. The seed makes a failure repeatable.
does_what_it_says() {
    cd "$WORK"
    SCHEMATHESIS_HOOKS=$HERE/openapi_hooks.py timeout 100 schemathesis run "$URL/openapi.json" --header "Authorization: Bearer $TOKEN" \
        --include-method GET --exclude-path-regex '/stream/|/wait$|^/ws|/attach$' \
        --mode all --phases coverage,fuzzing --max-examples 15 --seed 1 --request-timeout "$WITHIN" --workers 2 \
        --generation-database none --suppress-health-check all --warnings off --no-color
}

TOKEN=interop-secret
start_shell --auth-token "$TOKEN"
check "openapi.json is OpenAPI 3.1" is_3_1
check "openapi-spec-validator finds openapi.json valid" timeout 60 openapi-spec-validator "$WORK/openapi.json"
check "schemathesis finds the read-only calls as openapi.json says" does_what_it_says
