# Brings the clients: pinned versions, installed into the cache once. What cannot be brought ends the suite with the way to get it.

GRPCURL=v1.9.4
PROTOC_GEN_GO=v1.36.12
PROTOC_GEN_GO_GRPC=v1.6.2
KUSTOMIZE=v5.7.1

# The longest that one installation may take, in seconds.
INSTALL_SECONDS_MAX=400

# quietly COMMAND…: shows what it said only when it fails.
quietly() {
    local said
    said=$(timeout "$INSTALL_SECONDS_MAX" "$@" 2>&1) || { sed 's/^/#   /' <<<"$said" | tail -n 20; return 1; }
}

# need COMMAND HOW: something that this suite does not install by itself.
need() {
    command -v "$1" >/dev/null || give_up "$1 is there: it is missing; $2"
}

# need_debian COMMAND PACKAGE: from Debian's packages, when we may.
need_debian() {
    ! command -v "$1" >/dev/null || return 0
    local way="apt-get install $2"
    [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null || give_up "$1 is there: it is missing; as root: $way"
    export DEBIAN_FRONTEND=noninteractive
    quietly apt-get update -qq && quietly apt-get install -y -qq --no-install-recommends "$2" && command -v "$1" >/dev/null ||
        give_up "$1 is there: $way failed"
}

# go_tool PACKAGE VERSION: puts the command on the PATH.
go_tool() {
    # A major version at the end of a package's name is not the command's.
    local name=${1%/v[0-9]} bin
    name=${name##*/}
    bin=$CACHE/bin/$name@$2
    if [ ! -x "$bin/$name" ]; then
        need go "install Go 1.26 or newer from https://go.dev/dl"
        GOBIN=$bin quietly go install "$1@$2" || give_up "$name is there: go install $1@$2 failed"
    fi
    PATH=$bin:$PATH
}

grpcurl_tool() {
    go_tool github.com/fullstorydev/grpcurl/cmd/grpcurl "$GRPCURL"
}

# The packages of package-lock.json, in $CACHE/npm; their commands on the PATH.
npm_tools() {
    local dir=$CACHE/npm
    if ! cmp -s "$HERE/package-lock.json" "$dir/installed.json"; then
        need npm "install Node.js 20 or newer from https://nodejs.org"
        mkdir -p "$dir"
        cp "$HERE/package.json" "$HERE/package-lock.json" "$dir/"
        # buf and esbuild bring their programs as packages; their scripts only save a little time at each start.
        quietly npm ci --prefix "$dir" --ignore-scripts --no-audit --no-fund || give_up "npm packages are there: npm ci failed"
        cp "$HERE/package-lock.json" "$dir/installed.json"
    fi
    need node "install Node.js 20 or newer from https://nodejs.org"
    PATH=$dir/node_modules/.bin:$PATH
}

# python_tools [FILE NAME]: the packages of requirements.txt, in $CACHE/venv, or those of another file in $CACHE/NAME;
# their commands on the PATH.
python_tools() {
    local file=${1:-$HERE/requirements.txt} dir=$CACHE/${2:-venv}
    if ! cmp -s "$file" "$dir/installed.txt"; then
        need python3 "install Python 3.11 or newer"
        rm -rf "$dir"
        quietly python3 -m venv "$dir" || give_up "python3 can make a venv: apt-get install python3-venv"
        quietly "$dir/bin/pip" install --disable-pip-version-check --no-deps -r "$file" ||
            give_up "Python packages are there: pip install -r ${file#"$ROOT/"} failed"
        cp "$file" "$dir/installed.txt"
    fi
    PATH=$dir/bin:$PATH
}

# What clients/generate needs; a suite that runs it installs it first, so that what is missing is told as such.
generators() {
    npm_tools
    go_tool google.golang.org/protobuf/cmd/protoc-gen-go "$PROTOC_GEN_GO"
    go_tool google.golang.org/grpc/cmd/protoc-gen-go-grpc "$PROTOC_GEN_GO_GRPC"
    python_tools "$ROOT/clients/python/requirements.txt" venv-clients
}

# offline COMMAND…: where nothing but loopback can be reached through HTTP.
offline() {
    BUF_CACHE_DIR=$CACHE/buf HTTP_PROXY=http://127.0.0.1:9 HTTPS_PROXY=http://127.0.0.1:9 timeout 60 "$@"
}

need_debian curl curl
need_debian jq jq
