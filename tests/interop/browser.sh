# Pages in a real Chromium: gRPC-Web with clients/ts, from another origin.
source "$HERE/lib.sh"
source "$HERE/tools.sh"
export CHROMIUM=${CHROMIUM:-/usr/bin/chromium}
[ -x "$CHROMIUM" ] || need_debian "$CHROMIUM" chromium
npm_tools

# The package and the pages are built outside of the sources.
site=$CACHE/browser package=$CACHE/browser/coop-client
rm -rf "$site"
mkdir -p "$site/site" "$package"
ln -s "$CACHE/npm/node_modules" "$site/node_modules"
cp "$HERE"/browser/* "$ROOT/clients/testdata/agent" "$site/"
cp -r "$ROOT"/clients/ts/{src,package.json,tsconfig.json,README.md,LICENSE} "$package/"
cd "$site"
# The programs of the README, and what the first prints.
awk '/^```ts$/ {n++; file = "readme" n ".ts"; next} /^```text$/ {file = "readme.txt"; next} /^```/ {file = ""} file {print > file}' \
    "$package/README.md"

packs() {
    cd "$package"
    npm pack --dry-run --ignore-scripts --offline 2>&1 | tee "$WORK/packed"
    local file
    for file in dist/index.js dist/index.d.ts dist/gen/coop/v1/coop_pb.js src/index.ts README.md LICENSE; do grep -F " $file" "$WORK/packed"; done
}

check "the TypeScript client has no type errors and is built" timeout 200 tsc --project "$package/tsconfig.json"
check "the TypeScript client can be packed" packs
check "the programs of the pages and of the client's README have no type errors" timeout 200 tsc --project tsconfig.json
check "they are bundled for the browser" timeout 60 esbuild page.ts readme1.ts readme2.ts --bundle --format=esm --target=es2022 \
    --alias:coop-client="$package/dist/index.js" --outdir=site --log-level=warning
cp index.html readme.html site/
checks_of timeout 100 node drive.mjs "$BIN" "$CHROMIUM" "$CACHE/browser.png"
