# The page of all boxes, in a real Chromium: boxes that come, change, ask and go. COOP_BLESS makes its picture for the README.
source "$HERE/lib.sh"
PAGE=$(COOP_INTEROP_CACHE=$CACHE bash "$HERE/page/ready.sh") || give_up "the suite of the page of all boxes can be made ready"
checks_of timeout 500 node "$PAGE/../boxes/drive.mjs" "$BIN" "${CHROMIUM:-/usr/bin/chromium}"
[ -z "${BLESS:-}" ] || check "the picture for the README is taken" cp "$PAGE/../boxes/boxes.png" "$ROOT/docs/images/boxes.png"
