# Go: a program of somebody else, which uses the generated half of clients/go alone; and one that takes the whole as its README says.
source "$HERE/lib.sh"
source "$HERE/tools.sh"
need go "install Go 1.26 or newer from https://go.dev/dl"

mkdir -p "$CACHE/go"
builds() { (cd "$HERE/go" && timeout 300 go build -mod=readonly -buildvcs=false -o "$CACHE/go/client" . && timeout 120 go vet .); }
# Asks the module proxy for what Go does not have yet.
installs() {
    local readme=$ROOT/clients/go/README.md
    mkdir "$WORK/demo" && cd "$WORK/demo"
    go mod init example.org/demo
    block_of go "$readme" >main.go
    commands_of "$readme" | sed "s#PATH/TO/coop#$ROOT#" | tee install
    timeout 200 bash -e install
    timeout 300 go build -buildvcs=false -o demo .
    [ -x demo ]
}
check "the contract's Go code builds" builds
check "the Go client is installed by its README's words, and the README's program builds with it" installs

TOKEN=interop-secret
start_shell --auth-token "$TOKEN"
checks_of timeout 60 "$CACHE/go/client" "$URL" "$SOCK" "$TOKEN"
