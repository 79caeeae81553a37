# deploy/: Kubernetes' own tool reads the manifests, systemd's own tool the unit.
source "$HERE/lib.sh"
source "$HERE/tools.sh"

# kubectl where it is installed, else kustomize alone, which is what is in it.
if command -v kubectl >/dev/null; then
    kustomize() { kubectl kustomize "$@"; }
else
    go_tool sigs.k8s.io/kustomize/kustomize/v5 "$KUSTOMIZE"
    kustomize() { command kustomize build "$@"; }
fi

# What it makes of a directory, as a list in JSON.
rendered() {
    kustomize "$1" >"$WORK/rendered.yaml"
    python3 -c 'import json, sys, yaml
print(json.dumps(list(yaml.safe_load_all(sys.stdin))))' <"$WORK/rendered.yaml" >"$WORK/rendered.json"
}
python3 -c "import yaml" 2>/dev/null || python_tools

base_needs_a_token() {
    cp -r "$ROOT/deploy/kustomize" "$WORK/untold"
    rm -f "$WORK/untold/base/token.txt"
    ! kustomize "$WORK/untold/base" 2>"$WORK/why"
    grep token.txt "$WORK/why"
}

base_is_whole() {
    cp -r "$ROOT/deploy/kustomize" "$WORK/told"
    echo secret-of-mine >"$WORK/told/base/token.txt"
    rendered "$WORK/told/base"
    cat "$WORK/rendered.json"
    local kinds secret
    kinds=$(jq -r '.[].kind' "$WORK/rendered.json" | sort | tr '\n' ' ')
    [ "$kinds" = "Deployment Namespace NetworkPolicy Secret Service " ]
    secret=$(jq -r '.[] | select(.kind == "Secret") | .metadata.name' "$WORK/rendered.json")
    jq -e --arg name "$secret" '.[] | select(.kind == "Deployment") | .spec.template.spec
        | .volumes[] | select(.name == "token") | .secret.secretName == $name' "$WORK/rendered.json"
    jq -e '.[] | select(.kind == "Deployment") | .spec.template.spec.containers[0]
        | (.readinessProbe.grpc.port == 8080) and .livenessProbe.httpGet and .resources.limits.memory
        and (.securityContext.allowPrivilegeEscalation == false)' "$WORK/rendered.json"
    # Whom it lets in is said by their label alone.
    jq -e '.[] | select(.kind == "NetworkPolicy") | .spec.ingress[0].from[0].podSelector.matchLabels
        == {"coop.dev/client": "true"}' "$WORK/rendered.json"
    jq -e '.[] | select(.kind == "Service") | .spec.selector == {"app.kubernetes.io/name": "coop"}' "$WORK/rendered.json"
}

overlay_changes_what_it_says() {
    cp -r "$ROOT/deploy/kustomize" "$WORK/laid"
    echo of-the-base >"$WORK/laid/base/token.txt"
    echo of-the-overlay >"$WORK/laid/overlays/example/token.txt"
    rendered "$WORK/laid/overlays/example"
    cat "$WORK/rendered.json"
    jq -e 'all(.[]; (.metadata.namespace // .metadata.name) == "team-red")' "$WORK/rendered.json"
    jq -e '.[] | select(.kind == "Secret") | .data.token | @base64d == "of-the-overlay\n"' "$WORK/rendered.json"
    # What it adds stands before the program, and the base's names are still there.
    jq -e '.[] | select(.kind == "Deployment") | .spec.template.spec.containers[0]
        | .image == "registry.example/tools/coop:0.1.0" and (.args | .[:index("--")]
        | index("--allow-host=coop.team-red.example") and index("--allow-host=coop"))' "$WORK/rendered.json"
    jq -e '.[] | select(.kind == "Deployment") | .spec.template.spec.volumes[1].persistentVolumeClaim.claimName
        == "coop-work"' "$WORK/rendered.json"
}

manifests_are_read() {
    mkdir "$WORK/plain"
    cp "$ROOT"/deploy/k8s-*.yaml "$WORK/plain/"
    printf 'resources: [k8s-sidecar.yaml, k8s-standalone.yaml]\n' >"$WORK/plain/kustomization.yaml"
    rendered "$WORK/plain"
    cat "$WORK/rendered.json"
    [ "$(jq -r '.[].kind' "$WORK/rendered.json" | sort | tr '\n' ' ')" = "Deployment Pod Service " ]
}

# systemd's tool wants the program to be where the unit says.
unit_is_read() {
    mkdir -p "$WORK/home/.local/bin" "$WORK/home/.config/coop" "$WORK/run"
    ln -sf "$BIN" "$WORK/home/.local/bin/coop"
    printf 'COMMAND=cat\nDIRECTORY=/usr\n' >"$WORK/home/.config/coop/mayor.env"
    cp "$ROOT/deploy/systemd/coop@.service" "$WORK/run/coop@mayor.service"
    HOME=$WORK/home XDG_RUNTIME_DIR=$WORK/run systemd-analyze --user --man=no verify "$WORK/run/coop@mayor.service" 2>&1 |
        tee "$WORK/said"
    ! grep -i coop "$WORK/said"
}

# What the page says that an image must have, read from the program itself.
libc_is_as_said() {
    local needed said
    needed=$(grep -aoE 'GLIBC_2\.[0-9]+' "$BIN" | sort -Vu | tail -n 1)
    said=$(grep -oE 'glibc 2\.[0-9]+ or newer' "$ROOT/deploy/README.md" | head -n 1)
    echo "it needs $needed, and the page says $said"
    [ "glibc ${needed#GLIBC_} or newer" = "$said" ]
    # The same number wherever it stands.
    [ "$(grep -oE 'glibc 2\.[0-9]+' "$ROOT/deploy/README.md" | sort -u)" = "glibc ${needed#GLIBC_}" ]
}

size_is_as_said() {
    local bytes said rounded
    bytes=$(stat -c %s "$BIN")
    said=$(grep -oE 'coop is [0-9]+ MB' "$ROOT/deploy/README.md" | tr -dc 0-9)
    rounded=$(((bytes + 500000) / 1000000))
    echo "it has $bytes bytes, and the page says $said MB"
    # A change in every other commit shall not break the page; a megabyte is told anew.
    [ $((rounded - said)) -le 1 ] && [ $((said - rounded)) -le 1 ]
}

check "kustomize does not build without a token of one's own" base_needs_a_token
check "the kustomize base has all its parts, and the secret that it names" base_is_whole
check "the example of an overlay changes namespace, image, token, names and volume" overlay_changes_what_it_says
check "both plain manifests are read" manifests_are_read
check "coop needs the libc that the page tells, and no newer one" libc_is_as_said
# The linker's own tool, which is there wherever coop can be built.
if readelf --section-headers --wide "$BIN" | grep -qF ' .debug_info '; then
    echo "# this coop is none for an image: it was built for finding faults, and its size tells nothing"
else
    check "coop is as large as the page tells" size_is_as_said
fi
if command -v systemd-analyze >/dev/null; then
    check "systemd finds nothing to say about the unit" unit_is_read
else
    echo "# systemd-analyze is not here: the unit is held by tests/it/deploy.rs alone"
fi
