# Pages in a real Chromium: gRPC-Web with clients/ts, from another origin.
source "$HERE/lib.sh"
source "$HERE/tools.sh"
export CHROMIUM=${CHROMIUM:-/usr/bin/chromium}
[ -x "$CHROMIUM" ] || need_debian "$CHROMIUM" chromium
npm_tools

# The package and the pages are built outside of the sources.
site=$CACHE/browser package=$CACHE/browser/sources
rm -rf "$site"
mkdir -p "$site/site" "$site/node_modules" "$package"
cp "$HERE"/browser/* "$ROOT/clients/testdata/agent" "$site/"
cp -r "$ROOT"/clients/ts/{src,package.json,tsconfig.json,README.md,LICENSE} "$package/"
# What `npm install` in the package and in the project of its user would bring.
ln -s "$CACHE/npm/node_modules" "$package/node_modules"
ln -s "$CACHE"/npm/node_modules/* "$site/node_modules/"
cd "$site"
# The programs of the README, and what the first prints.
awk '/^```ts$/ {n++; file = "readme" n ".ts"; next} /^```text$/ {file = "readme.txt"; next} /^```/ {file = ""} file {print > file}' \
    "$package/README.md"
tarball=coop-client-$(jq -r .version "$package/package.json").tgz

packs() {
    timeout 200 npm pack --offline "$package"
    tar -tzf "$tarball" | tee "$WORK/packed"
    local file
    for file in dist/index.js dist/index.d.ts dist/gen/coop/v1/coop_pb.js src/index.ts README.md LICENSE; do grep -Fx "package/$file" "$WORK/packed"; done
    grep -F "npm install ./$tarball" "$package/README.md"
}

# Only what the build alone reads, options, is for nobody else.
exports_all() {
    local file
    for file in "$package"/src/gen/coop/v1/*_pb.ts; do
        file=$(basename "$file" .ts)
        [ "$file" = options_pb ] || grep -F "export * from \"./gen/coop/v1/$file.js\";" "$package/src/index.ts" || { echo "$file is not exported"; return 1; }
    done
}

# The first program of the README as written, but for its port; nothing stands between Node.js and the package.
runs_in_node() {
    node --version
    sed "s#http://127.0.0.1:8080#$URL#" readme1.ts >node1.ts
    grep -F "$URL" node1.ts
    esbuild node1.ts --format=esm --outfile=node1.mjs --log-level=warning
    timeout 60 node node1.mjs | diff readme.txt -
}

# As npm does it with a package that it has.
installs() {
    mkdir node_modules/coop-client
    tar -xzf "$tarball" --strip-components=1 -C node_modules/coop-client
}

check "the TypeScript client has no type errors, is built and packed by the README's words" packs
check "the types of every call are exported" exports_all
check "what was packed is installed" installs
check "the programs of the pages and of the client's README have no type errors" timeout 200 tsc --project tsconfig.json
check "they are bundled for the browser" timeout 60 esbuild page.ts readme1.ts readme2.ts --bundle --format=esm --target=es2022 \
    --outdir=site --log-level=warning
cp index.html readme.html site/
start_coop --auth-token page-secret -- bash --norc
check "the first program of the README of clients/ts prints what it says in Node.js, too" runs_in_node
checks_of timeout 100 node drive.mjs "$BIN" "$CHROMIUM" "$CACHE/browser.png"
