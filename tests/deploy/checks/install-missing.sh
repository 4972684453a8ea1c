#!/usr/bin/env bash
# Debian's packages that the checks of deploy/ call, where they are missing.
set -euo pipefail

declare -A packages=([promtool]=prometheus [systemd-analyze]=systemd [strace]=strace [unshare]=util-linux)
wanted=()
for tool in "${!packages[@]}"; do
    command -v "$tool" >/dev/null || wanted+=("${packages[$tool]}")
done
command -v kubectl >/dev/null || command -v kustomize >/dev/null || wanted+=(kubernetes-client)
[ ${#wanted[@]} -gt 0 ] || exit 0
command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] || {
    echo "make deploy-check needs, from packages such as Debian's: ${wanted[*]}" >&2
    exit 1
}
apt-get -qq update
DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends "${wanted[@]}" >/dev/null
