# Go: a client made from the contract with protoc-gen-go and protoc-gen-go-grpc.
source "$HERE/lib.sh"
source "$HERE/tools.sh"
need go "install Go 1.26 or newer from https://go.dev/dl"
generate

# The client is built beside its generated half, outside of the sources.
rm -rf "$CACHE/go"
mkdir -p "$CACHE/go/gen"
cp "$HERE"/go/* "$CACHE/go/"
cp -r "$CACHE/gen/go" "$CACHE/go/gen/go"
builds() { (cd "$CACHE/go" && timeout 300 go build -mod=readonly -o client . && timeout 60 go vet .); }
check "the contract's Go code builds" builds

TOKEN=interop-secret
start_shell --auth-token "$TOKEN"
checks_of timeout 60 "$CACHE/go/client" "$URL" "$SOCK" "$TOKEN"
