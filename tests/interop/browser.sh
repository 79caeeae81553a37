# A page in a real Chromium: gRPC-Web with generated TypeScript, from another origin.
source "$HERE/lib.sh"
source "$HERE/tools.sh"
export CHROMIUM=${CHROMIUM:-/usr/bin/chromium}
[ -x "$CHROMIUM" ] || need_debian "$CHROMIUM" chromium
generate

# The page is built beside its generated half and its packages, outside of the sources.
rm -rf "$CACHE/browser"
mkdir -p "$CACHE/browser"
cp "$HERE"/browser/* "$CACHE/browser/"
mv "$CACHE/gen/es" "$CACHE/browser/gen"
ln -s "$CACHE/npm/node_modules" "$CACHE/browser/node_modules"
cd "$CACHE/browser"
check "the contract's TypeScript code has no type errors" timeout 120 tsc --project tsconfig.json
check "the contract's TypeScript code is bundled for the browser" \
    timeout 60 esbuild page.ts --bundle --format=esm --target=es2022 --outfile=site/page.js --log-level=warning
cp index.html site/
checks_of timeout 100 node drive.mjs "$BIN" "$CHROMIUM" "$CACHE/browser.png"
