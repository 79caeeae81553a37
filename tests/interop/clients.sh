# clients/: what is generated is current, and the Go and Python clients keep their promises with the real coop. That for browsers
# is tried by the suite `browser`.
source "$HERE/lib.sh"
source "$HERE/tools.sh"
need go "install Go 1.26 or newer from https://go.dev/dl"
generators
export COOP_BIN=$BIN

# The generated files among those in a directory of clients.
generated() { (cd "$1" && find go/coop/v1 ts/src/gen python/coop/v1 -type f ! -name '*.pyc' | sort); }

is_current() {
    COOP_INTEROP_CACHE=$CACHE "$ROOT/clients/generate" "$WORK/made"
    diff <(generated "$ROOT/clients") <(generated "$WORK/made") || { echo 'files are missing or too many: run `make clients`'; return 1; }
    local file
    for file in $(generated "$WORK/made"); do
        diff -u "$ROOT/clients/$file" "$WORK/made/$file" | head -20
        cmp "$ROOT/clients/$file" "$WORK/made/$file" || { echo 'run `make clients` and commit what it makes'; return 1; }
    done
}

# Each code of the error table is a word that all clients have; Python has a class only for those that scripts tell apart.
codes_are_known() {
    local code
    for code in $(grep -oP '^    \(Code::\w+, "\K[A-Z_]+' "$ROOT/src/api/error.rs"); do
        echo "$code"
        [ "$code" = METHOD_NOT_ALLOWED ] || grep -qF "\"$code\"" "$ROOT/clients/go/coop/errors.go"
        grep -qF "\"$code\"" "$ROOT/clients/ts/src/errors.ts"
    done | tee "$WORK/codes"
    grep -qx INTERNAL "$WORK/codes"
}

go_is_tidy() {
    cd "$ROOT/clients/go"
    gofmt -d . | tee "$WORK/unformatted"
    [ ! -s "$WORK/unformatted" ]
    timeout 200 go vet -mod=readonly ./...
}

go_tests() {
    cd "$ROOT/clients/go"
    timeout 400 go test -mod=readonly -race -count=1 ./...
}

python_tests() {
    cd "$ROOT/clients/python"
    PYTHONDONTWRITEBYTECODE=1 timeout 300 python3 -W error::ResourceWarning -m unittest
}

# As the README says, with what PyPI has today, in an environment that has nothing else; then its program runs.
python_installs() {
    local readme=$ROOT/clients/python/README.md
    # pip builds beside the sources.
    mkdir -p "$WORK/coop/clients" "$WORK/bin" "$WORK/run" && cp -r "$ROOT/clients/python" "$WORK/coop/clients/"
    ln -s "$BIN" "$WORK/bin/coop"
    python3 -m venv "$WORK/venv"
    export PATH=$WORK/venv/bin:$WORK/bin:$PATH XDG_RUNTIME_DIR=$WORK/run
    cd "$WORK/coop"
    commands_of "$readme" | tee "$WORK/install"
    timeout 200 bash -e "$WORK/install"
    cd "$WORK"
    block_of python "$readme" >demo.py
    block_of text "$readme" >demo.txt
    timeout 60 python3 demo.py | diff demo.txt -
}

python_package() {
    cp -r "$ROOT/clients/python" "$WORK/python"
    pip wheel --quiet --no-deps --no-build-isolation --no-index --wheel-dir "$WORK/wheel" "$WORK/python"
    python3 -m zipfile -l "$WORK"/wheel/coop_client-*.whl >"$WORK/listed"
    cat "$WORK/listed"
    local file
    for file in coop/session.py coop/py.typed coop/v1/coop_pb2_grpc.py coop/v1/agent_pb2.pyi licenses/LICENSE; do grep -F "$file" "$WORK/listed"; done
}

check "the generated code of clients/ is what the contract makes" is_current
check "the clients know every code of the error table" codes_are_known
check "the Go client is formatted and vetted" go_is_tidy
check "the Go client keeps its promises, under the race detector" go_tests
check "the Python client keeps its promises" python_tests
check "the Python client can be packed" python_package
check "the Python client is installed by its README's words, and the README's program runs with it" python_installs
