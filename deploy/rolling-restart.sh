#!/usr/bin/env bash
# Restarts the voters of a quorum one after the other, the leader last. After each restart it waits until all voters have caught up.
#
# On SIGTERM a leader hands its leadership over before it closes its listener, so leadership moves only once, and clients that
# retry lose nothing. On the first problem the script stops and restarts no further node.
set -euo pipefail

usage() {
    cat >&2 <<END
usage: rolling-restart.sh (-b HOST:PORT,… | -c FILE) [-s FILE] [-t SECONDS] NODE=COMMAND…

  -b  the controllers, as for kraftctl status --bootstrap-controller
  -c  a controller.properties that names the controllers, and has the TLS and SASL settings to reach them
  -s  properties of a client, as for kraftctl status --command-config: security.protocol, ssl.…, sasl.…
  -t  how long to wait after each restart until all voters have caught up (default: 60)

COMMAND is run by sh and restarts that node. It must return after the old process has exited and the new one has started.
Name every voter.

  rolling-restart.sh -b c1:9093,c2:9093,c3:9093 \\
      '1=ssh c1 sudo systemctl restart kraft-controller' \\
      '2=ssh c2 sudo systemctl restart kraft-controller' \\
      '3=ssh c3 sudo systemctl restart kraft-controller'

With listeners that need TLS or SASL: rolling-restart.sh -b c1:9093,c2:9093,c3:9093 -s admin.properties …
END
    exit 2
}

fail() {
    printf 'rolling-restart: %s\n' "$1" >&2
    exit 1
}

quorum=() security=() seconds=60
while getopts 'b:c:s:t:h' option; do
    case $option in
        b) quorum=(--bootstrap-controller "$OPTARG") ;;
        c) quorum=(--config "$OPTARG") ;;
        s) security=(--command-config "$OPTARG") ;;
        t) seconds=$OPTARG ;;
        *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ ${#quorum[@]} -gt 0 ] && [ $# -gt 0 ] || usage

declare -A commands=()
for pair in "$@"; do
    node=${pair%%=*}
    [[ $pair == *=* && $node =~ ^[0-9]+$ && -n ${pair#*=} ]] || fail "'$pair' is not NODE=COMMAND"
    [ -z "${commands[$node]:-}" ] || fail "node $node is named twice"
    commands[$node]=${pair#*=}
done

field() { kraftctl status "${quorum[@]}" "${security[@]}" --field "$1"; }
caught_up() { kraftctl wait "${quorum[@]}" "${security[@]}" --timeout "$seconds" "$@"; }

caught_up || fail 'the voters have not all caught up; no node was restarted'
voters=$(field voters)
for node in $voters; do
    [ -n "${commands[$node]:-}" ] || fail "no command for voter $node; voters are $voters"
done
for node in "${!commands[@]}"; do
    [[ " $voters " == *" $node "* ]] || fail "node $node is not a voter; voters are $voters"
done

left=$voters
while [ -n "$left" ]; do
    # Ask each time: leadership may have moved meanwhile.
    leader=$(field leader_id)
    next=''
    for node in $left; do
        if [ "$node" != "$leader" ]; then
            next=$node
            break
        fi
    done
    if [ -z "$next" ]; then
        next=$leader
        echo "node $next: restarting; it is the leader and hands its leadership over"
    else
        echo "node $next: restarting"
    fi
    committed=$(field high_watermark)
    sh -c "${commands[$next]}" </dev/null || fail "the command for node $next failed; not restarted yet: $left"
    caught_up --past "$committed" || fail "not all voters have caught up after node $next; not restarted yet: $left"
    left=$(for node in $left; do [ "$node" = "$next" ] || printf '%s ' "$node"; done)
    left=${left% }
    echo "node $next: restarted, caught up to offset $committed"
done
echo "done; node $(field leader_id) leads"
