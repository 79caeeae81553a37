# Go: a program of somebody else, which uses the generated half of clients/go alone.
source "$HERE/lib.sh"
source "$HERE/tools.sh"
need go "install Go 1.26 or newer from https://go.dev/dl"

mkdir -p "$CACHE/go"
builds() { (cd "$HERE/go" && timeout 300 go build -mod=readonly -buildvcs=false -o "$CACHE/go/client" . && timeout 120 go vet .); }
check "the contract's Go code builds" builds

TOKEN=interop-secret
start_shell --auth-token "$TOKEN"
checks_of timeout 60 "$CACHE/go/client" "$URL" "$SOCK" "$TOKEN"
