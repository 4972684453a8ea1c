#!/usr/bin/env bash
# Restarts the voters of a quorum one after the other, the leader last, and goes on only when all is replicated again.
#
# A node hands its leadership over when it is asked to stop (SIGTERM), before it closes its listener; so leadership moves
# once, and clients that retry lose nothing. With the first thing that is not as it should be, the rest is left alone.
set -euo pipefail

usage() {
    cat >&2 <<END
usage: rolling-restart.sh -b HOST:PORT,… [-t SECONDS] NODE=COMMAND…

  -b  the controllers, as for kraftctl status --bootstrap-controller
  -t  how long the quorum may take to be whole again after each restart (default: 60)

Each COMMAND is run by sh and restarts that node: it ends when the old process is gone and the new one is started.
All voters must be named.

  rolling-restart.sh -b c1:9093,c2:9093,c3:9093 \\
      '1=ssh c1 sudo systemctl restart kraft-controller' \\
      '2=ssh c2 sudo systemctl restart kraft-controller' \\
      '3=ssh c3 sudo systemctl restart kraft-controller'
END
    exit 2
}

fail() {
    printf 'rolling-restart: %s\n' "$1" >&2
    exit 1
}

bootstrap='' seconds=60
while getopts 'b:t:h' option; do
    case $option in
        b) bootstrap=$OPTARG ;;
        t) seconds=$OPTARG ;;
        *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ -n "$bootstrap" ] && [ $# -gt 0 ] || usage

declare -A commands=()
for pair in "$@"; do
    node=${pair%%=*}
    [[ $pair == *=* && $node =~ ^[0-9]+$ && -n ${pair#*=} ]] || fail "'$pair' is not NODE=COMMAND"
    [ -z "${commands[$node]:-}" ] || fail "node $node is named twice"
    commands[$node]=${pair#*=}
done

field() { kraftctl status --bootstrap-controller "$bootstrap" --field "$1"; }
whole() { kraftctl wait --bootstrap-controller "$bootstrap" --timeout "$seconds" "$@"; }

whole || fail 'the quorum is not whole; nothing was touched'
voters=$(field voters)
for node in $voters; do
    [ -n "${commands[$node]:-}" ] || fail "no command for voter $node; voters are $voters"
done
for node in "${!commands[@]}"; do
    [[ " $voters " == *" $node "* ]] || fail "node $node is no voter; voters are $voters"
done

left=$voters
while [ -n "$left" ]; do
    # Asked anew each time: leadership may have moved meanwhile.
    leader=$(field leader)
    next=''
    for node in $left; do
        if [ "$node" != "$leader" ]; then
            next=$node
            break
        fi
    done
    if [ -z "$next" ]; then
        next=$leader
        echo "node $next: restarting; it leads, and hands over"
    else
        echo "node $next: restarting"
    fi
    committed=$(field high_watermark)
    sh -c "${commands[$next]}" </dev/null || fail "the command for node $next failed; still to do: $left"
    whole --past "$committed" || fail "the quorum is not whole after node $next; still to do: $left"
    left=$(for node in $left; do [ "$node" = "$next" ] || printf '%s ' "$node"; done)
    left=${left% }
    echo "node $next: back, and level with offset $committed"
done
echo "done; node $(field leader) leads"
