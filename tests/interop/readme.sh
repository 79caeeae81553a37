# README.md: its examples run as written, and print what it says.
source "$HERE/lib.sh"
source "$HERE/tools.sh"
need python3 "install Python 3.11 or newer"

# The examples call `coop` by its name.
mkdir "$WORK/bin"
ln -s "$BIN" "$WORK/bin/coop"
PATH=$WORK/bin:$PATH

# A document that lies must be found out.
lie_is_found() {
    sed 's/^sum: 42$/sum: 41/' "$HERE/sample.md" >"$WORK/lie.md"
    python3 "$HERE/readme.py" "$WORK/lie.md" >"$WORK/lie" 2>&1 && return 1
    cat "$WORK/lie"
    grep '^not ok - .*sum' "$WORK/lie"
}

checks_of python3 "$HERE/readme.py" "$HERE/sample.md"
check "an example that prints something else is found out" lie_is_found
checks_of python3 "$HERE/readme.py" "$ROOT/docs/migration.md"
if [ -f "$ROOT/README.md" ]; then
    checks_of python3 "$HERE/readme.py" "$ROOT/README.md"
else
    echo "# there is no README.md yet: only the sample was run"
fi
