#!/usr/bin/env bash
# In the place of kafka-storage.sh and of kafka-server-start.sh in Strimzi's image, whose own are beside it as
# kafka-storage.jvm.sh and kafka-server-start.jvm.sh. A controller that is no broker runs kraft-quorum where its pool says so:
# KRAFT_QUORUM_CONTROLLER is true, or has its node id (0,2). Every other pod runs what it ran before. See docs/strimzi.md.
set -eu

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$(basename "${BASH_SOURCE[0]}" .sh)
jvm="$here/$program.jvm.sh"
ours=${KRAFT_QUORUM_HOME:-/opt/kraft-quorum}/bin

chosen=${KRAFT_QUORUM_CONTROLLER:-false}
if [ "$chosen" = false ]; then
    exec "$jvm" "$@"
fi

# The configuration: the first argument of kafka-server-start.sh, an option of kafka-storage.sh.
config=
if [ "$program" = kafka-server-start ]; then
    config=${1:-}
else
    previous=
    for argument in "$@"; do
        case "$argument" in
            --config=* | -c=*) config=${argument#*=} ;;
        esac
        case "$previous" in
            --config | -c) config=$argument ;;
        esac
        previous=$argument
    done
fi
if [ ! -f "$config" ]; then
    exec "$jvm" "$@"
fi

value_of() {
    sed -n "s/^[[:space:]]*$1[[:space:]]*[=:][[:space:]]*//p" "$config" | tail -n 1 | tr -d '[:space:]'
}
id=$(value_of 'node\.id')
case ",$chosen," in
    ,true, | *",$id,"*) ;;
    *) exec "$jvm" "$@" ;;
esac
roles=$(value_of 'process\.roles')
if [ "$roles" != controller ]; then
    echo "kraft-quorum: process.roles=$roles in $config: only a pool of controllers alone is served; this pod runs the JVM" >&2
    exec "$jvm" "$@"
fi

if [ "$program" = kafka-server-start ]; then
    shift
    exec "$ours/kraftctl" start -c "$config" "$@"
fi
exec "$ours/$program" "$@"
