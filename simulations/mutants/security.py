"""Mutants of security: authentication, handshakes, principals, the authorizer and its ACLs."""

from __future__ import annotations

from simulations.mutants.row import Edit, Mutant

GATE, MECHANISMS, TLS = "raft.network.sasl_gate", "raft.network.mechanisms", "raft.network.tls"
HANDSHAKES, SERVER = "raft.network.handshakes", "raft.network.server"
AUTHORIZER, PERMISSIONS = "controller.rules.authorizer", "controller.rules.permissions"
INDEX = "controller.state.tables.acl_index"
ACLS, APIS, NODE = "controller.state.tables.acls", "controller.core.apis", "controller.node.node"
ENVELOPE = "controller.node.envelope"


def _row(number: str, name: str, subject: str, expected: tuple[str, ...], *edits: Edit, ci: bool = False) -> Mutant:
    return Mutant(number, name, subject, "own", expected, edits, ci=ci, seeds=60, level="secured")


MUTANTS = (
    # Authentication
    _row(
        "A01", "requests pass before SASL has authenticated anybody", "authentication", ("W08",),
        Edit(GATE, "            self._close(connection, f\"{error}, before it is authenticated{hint}\")\n            return False\n", "            return bool(error) or bool(hint)\n"),
        ci=True,
    ),
    _row(
        "A02", "requests pass after authentication has failed", "authentication", ("W08",),
        Edit(GATE, "        if self._state is State.FAILED:\n            return False\n", "        if self._state is State.FAILED:\n            return True\n"),
    ),
    _row(
        "A03", "any password is accepted", "authentication", ("W08",),
        Edit(MECHANISMS, "        if not hmac.compare_digest((expected or \"\").encode(), password.encode()) or expected is None:\n", "        if expected is None:\n"),
        ci=True,
    ),
    _row(
        "A04", "a user that is not known has the empty password", "authentication", ("W08",),
        Edit(MECHANISMS, "password.encode()) or expected is None:\n", "password.encode()) and expected is not None:\n"),
    ),
    _row(
        "A05", "a session never ends", "authentication", ("W08",),
        Edit(GATE, "            if self._expires_at is None or self._loop.time() < self._expires_at:\n", "            if True:\n"),
    ),
    _row(
        "A06", "re-authentication may change the principal", "authentication", ("W08",),
        Edit(GATE, "        if self._renewing and name != self._name:\n", "        if False:\n"),
    ),
    _row(
        "A07", "re-authentication needs no token", "authentication", ("W08",),
        Edit(GATE, "            self._renewing = self._mechanism_name\n            self._state = State.HANDSHAKE\n", "            self._renewing = self._mechanism_name\n"),
        Edit(GATE, "        self._state = State.TOKENS\n        self._is_bare", "        self._state = State.DONE if self._renewing else State.TOKENS\n        self._is_bare"),
    ),
    _row(
        "A09", "the authenticated principal is not kept", "identities", ("W08",),
        Edit(SERVER, "        connection.identity = identity\n", "        pass\n"),
    ),
    _row(
        "A10", "the principal of a certificate is not kept", "identities", ("W08",),
        Edit(SERVER, "            connection.identity = security.identity_of(tls.session)\n", "            pass\n"),
        ci=True,
    ),
    # The authorizer
    _row(
        "A25", "no ACL operation implies another", "authorizer", ("W10",),
        Edit(AUTHORIZER, "    implied = _IMPLIED.get(action.operation)\n", "    implied = None\n"),
    ),
    _row(
        "A26", "ACLs of all users count for nobody", "authorizer", ("W10",),
        Edit(AUTHORIZER, "else (principal, EVERY_USER)\n", "else (principal,)\n"),
    ),
    _row(
        "A27", "the default allows although the resource has ACLs", "authorizer", ("W10",),
        Edit(AUTHORIZER, "        return DEFAULT_ALLOW if self.allows_without_acls and not is_covered else DEFAULT_DENY\n", "        return DEFAULT_ALLOW if self.allows_without_acls else DEFAULT_DENY\n"),
    ),
    _row(
        "A28", "everything is allowed before the ACLs are loaded", "authorizer", ("W10",),
        Edit(AUTHORIZER, "        if acls is None:\n            raise ApiError(Error.UNKNOWN_SERVER_ERROR, \"The ACLs are not loaded yet.\")\n", "        if acls is None:\n            return DEFAULT_ALLOW\n"),
    ),
    _row(
        "A29", "a prefixed pattern covers only the name that it equals", "authorizer", ("W10",),
        Edit(INDEX, "                if length <= len(name):\n", "                if length == len(name):\n"),
    ),
    _row(
        "A30", "ACLs count before they are committed", "authorizer", ("W10",),
        Edit(ACLS, "[key for key in self._pending if key not in uncommitted]", "list(self._pending)"),
    ),
    # Permissions of APIs
    _row(
        "A49", "IncrementalAlterConfigs needs no permission", "permissions", ("W10",),
        Edit("controller.handlers.configs", "            if allows(state, context, env, AclOperation.ALTER_CONFIGS, type_, name):\n", "            if True:\n"),
    ),
    _row(
        "A50", "CreatePartitions needs no permission", "permissions", ("W10",),
        Edit("controller.handlers.partition_creation", "        if allows(state, context, env, AclOperation.ALTER, AclResourceType.TOPIC, name):\n", "        if True:\n"),
    ),
)  # fmt: skip
