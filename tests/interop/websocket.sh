# WebSocket, with the Python library websockets.
source "$HERE/lib.sh"
source "$HERE/tools.sh"
python_tools

TOKEN=interop-secret
start_shell --auth-token "$TOKEN"
guarded=$URL
unset TOKEN
start_shell
checks_of timeout 60 python3 "$HERE/websocket.py" "$URL" "$guarded" interop-secret
ended "$PID"
check "coop leaves with status 0 after a shutdown over WebSocket" test "$STATUS" = 0
