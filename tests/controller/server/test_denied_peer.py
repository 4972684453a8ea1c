"""A controller that its peers let take no part in the quorum ends, and says which of them denied it and what to do."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from simulations.chaos.ports import free_ports_in_a_row
from tests.controller.server.processes import running

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


def test_a_controller_whose_principal_is_no_super_user_ends(tmp_path: Path) -> None:
    first = free_ports_in_a_row(3)
    voters = ",".join(f"{node}@127.0.0.1:{first + node - 1}" for node in (1, 2, 3))
    with ExitStack() as stack:
        processes = {}
        for node in (1, 2, 3):
            # As node 3 authenticates, nobody knows it; the others are the same principal.
            user = "stranger" if node == 3 else "controller"
            (tmp_path / str(node)).mkdir()
            processes[node] = stack.enter_context(
                running(
                    tmp_path / str(node), first + node - 1,
                    node_id=str(node), controller_quorum_voters=voters,
                    listener_security_protocol_map="CONTROLLER:SASL_PLAINTEXT",
                    sasl_mechanism_controller_protocol="PLAIN", sasl_enabled_mechanisms="PLAIN",
                    listener_name_controller_plain_sasl_jaas_config=(
                        f'{PLAIN} required username="{user}" password="hush" user_controller="hush" '
                        'user_stranger="hush";'
                    ),
                    authorizer_class_name="org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                    super_users="User:controller",
                )
            )  # fmt: skip
        assert processes[3].wait(60) == 1
        said = (tmp_path / "3" / "node.log").read_text()
        assert "does not let this node take part in the quorum: add the principal of this node to super.users" in said
        assert [processes[node].poll() for node in (1, 2)] == [None, None]
    others = "".join((tmp_path / str(node) / "node.log").read_text() for node in (1, 2))
    assert "authorization_denied" in others
    assert "controller_active" in others
