# The page that coop serves, in a real Chromium: types, dialogs, tokens, proxies, bad networks.
source "$HERE/lib.sh"
PAGE=$(COOP_INTEROP_CACHE=$CACHE bash "$HERE/page/ready.sh") || give_up "the page's suite can be made ready"
checks_of timeout 500 node "$PAGE/drive.mjs" "$BIN" "${CHROMIUM:-/usr/bin/chromium}"
