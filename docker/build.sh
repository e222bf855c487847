#!/bin/sh
# Builds sizer:latest. With a Docker engine that runs; else, as root, with buildah on a base made from Debian's packages,
# so that no registry of images is needed.
#   IMAGE   name of the image, default sizer:latest
set -eu
cd "$(dirname "$0")/.."
image=${IMAGE:-sizer:latest}
base=docker.io/library/debian:bookworm-slim

if docker info >/dev/null 2>&1; then
    exec docker build --tag "$image" --file docker/Dockerfile .
fi

missing=
for program in buildah mmdebstrap; do
    command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
done
if [ -n "$missing" ]; then
    [ "$(id -u)" = 0 ] || { echo "no Docker engine runs, and these are missing:$missing" >&2 && exit 1; }
    # shellcheck disable=SC2086 # a list of words
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends $missing >/dev/null
fi

if ! buildah inspect --type image "$base" >/dev/null 2>&1; then
    root=$(mktemp --suffix .tar)
    trap 'rm -f "$root"' EXIT
    # Not the name and the resolver of the machine it is built on.
    # shellcheck disable=SC2016 # the hook's own $1
    mmdebstrap --quiet --variant=minbase --customize-hook=': >"$1/etc/hostname"; : >"$1/etc/resolv.conf"' bookworm "$root"
    container=$(buildah from scratch)
    buildah add --quiet "$container" "$root" / >/dev/null
    buildah config --cmd bash "$container"
    buildah commit --quiet --rm "$container" "$base" >/dev/null
fi
# The docker format: the other one has no place for HEALTHCHECK.
buildah bud --isolation chroot --format docker --network host --pull-never --layers=false --tag "$image" \
    --file docker/Dockerfile .
