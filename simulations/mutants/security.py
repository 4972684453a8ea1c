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
        "A03", "any password is accepted", "authentication", ("W08", "W09"),
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
    _row(
        "A11", "a session that is complete is not checked", "handshakes", ("W08",),
        Edit(TLS, "            if self._check is not None:\n                self._check(self.session)\n", ""),
    ),
    _row(
        "A12", "a connection begins though its handshake has failed", "handshakes", ("W08",),
        Edit(TLS, "        except (ssl.SSLError, ValueError) as error:\n            self._flush()  # the alert\n            self.fail(explain(error))\n            return\n", "        except (ssl.SSLError, ValueError):\n            self._flush()\n"),
    ),
    _row(
        "A13", "the number of handshakes has no limit", "handshakes", ("W09",),
        Edit(HANDSHAKES, "        if len(self._open) > self._handshakes_max:\n", "        if False:\n"),
    ),
    _row(
        "A14", "a handshake has no time limit", "handshakes", ("W09",),
        Edit(HANDSHAKES, "self._loop.call_later(self._seconds_max, tls.fail, late)", "self._loop.call_later(3600.0, tls.fail, late)"),
    ),
    _row(
        "A15", "the size of a handshake has no limit", "handshakes", ("W09",),
        Edit(TLS, "        if self.received > HANDSHAKE_BYTES_MAX:\n", "        if False:\n"),
    ),
    _row(
        "A16", "a listener keeps using its first certificate", "handshakes", ("L01", "L02", "L08", "L09"),
        Edit(HANDSHAKES, "self._loop, security.context(), inner,", "self._loop, self.__dict__.setdefault(\"first\", security.context()), inner,"),
    ),
    _row(
        "A17", "authentication has no time limit", "authentication", ("W09",),
        Edit(SERVER, "            self._authentication_s_max, self._end_unauthenticated,", "            3600.0, self._end_unauthenticated,"),
    ),
    _row(
        "A18", "the number of unauthenticated connections has no limit", "authentication", ("W09",),
        Edit(SERVER, "        if len(self._unauthenticated) > self._handshakes_max:\n", "        if False:\n"),
    ),
    _row(
        "A08", "SaslHandshake begins anew where a token should come", "authentication", ("W08",),
        Edit(GATE, "        elif self._state is State.TOKENS and request.api_key == SASL_HANDSHAKE:\n", "        elif self._state is State.TOKENS and request.api_key == SASL_HANDSHAKE:\n            self._handshake(connection, request)\n        elif False:\n"),
    ),
    _row(
        "A19", "re-authentication may change the mechanism", "authentication", ("W08",),
        Edit(GATE, "        if not self._renewing or self._renewing == name:\n", "        if True:\n"),
    ),
    _row(
        "A34", "authentication with a credential that ends earlier does not shorten the session", "authentication", ("W08",),
        Edit(GATE, "        self._expires_at = self._loop.time() + lifetime_ms / 1000 if limits else None\n", "        ends_at = self._loop.time() + lifetime_ms / 1000 if limits else None\n        self._expires_at = ends_at if None in (ends_at, self._expires_at) else max(ends_at, self._expires_at)\n"),
    ),
    # SCRAM
    _row(
        "A60", "any proof is accepted", "scram", ("W08",),
        Edit(MECHANISMS, "        if not hmac.compare_digest(hashlib.new(self._hash, key).digest(), credential.stored_key):\n", "        if False:\n"),
        ci=True,
    ),
    _row(
        "A61", "a server does not compare the nonce", "scram", ("W08",),
        Edit(MECHANISMS, "        if match[\"nonce\"] != self._nonce:\n", "        if False:\n"),
    ),
    _row(
        "A62", "a server adds no nonce of its own", "scram", ("W08",),
        Edit(MECHANISMS, "        self._nonce = match[\"nonce\"] + self._nonce\n", "        self._nonce = match[\"nonce\"]\n"),
    ),
    _row(
        "A63", "a credential may have few iterations", "scram", ("W08",),
        Edit(MECHANISMS, "        if credential.iterations < ITERATIONS_MIN:\n", "        if False:\n"),
    ),
    _row(
        "A64", "the authorization id of another user is ignored", "scram", ("W08",),
        Edit(MECHANISMS, "        authorization = (match[\"authzid\"] or \"\").replace(\"=2C\", \",\").replace(\"=3D\", \"=\")\n", "        authorization = \"\"\n"),
    ),
    _row(
        "A65", "a client does not compare the nonce", "scram", ("W08",),
        Edit(MECHANISMS, "        if match is None or not match[\"nonce\"].startswith(self._nonce):\n", "        if match is None:\n"),
    ),
    _row(
        "A66", "a client accepts few iterations", "scram", ("W08",),
        Edit(MECHANISMS, "        if not ITERATIONS_MIN <= iterations <= ITERATIONS_MAX:\n", "        if iterations > ITERATIONS_MAX:\n"),
    ),
    _row(
        "A67", "a client computes as many iterations as a server asks for", "scram", ("W08",),
        Edit(MECHANISMS, "        if not ITERATIONS_MIN <= iterations <= ITERATIONS_MAX:\n", "        if iterations < ITERATIONS_MIN:\n"),
    ),
    _row(
        "A68", "a client does not compare the signature of the server", "scram", ("W08",),
        Edit(MECHANISMS, "            if not hmac.compare_digest(base64_bytes(match[\"signature\"]), self._expected):\n", "            if False:\n"),
        ci=True,
    ),
    _row(
        "A69", "a client does without the signature of the server", "scram", ("W08",),
        Edit(MECHANISMS, "            if match is None or match[\"signature\"] is None:\n", "            if not text:\n                self.is_complete = True\n                return None\n            if match is None or match[\"signature\"] is None:\n"),
    ),
    # The authorizer
    _row(
        "A20", "super users need ACLs", "authorizer", ("W10",),
        Edit(AUTHORIZER, "        if principal in self.super_users:\n", "        if False:\n"),
    ),
    _row(
        "A21", "a principal that resembles a super user is one", "authorizer", ("W10",),
        Edit(AUTHORIZER, "        if principal in self.super_users:\n", "        if any(principal[0] == each[0] for each in self.super_users):\n"),
        ci=True,
    ),
    _row(
        "A22", "allow comes before deny", "authorizer", ("W10",),
        Edit(AUTHORIZER, "                    if acl.permission_type != Permission.ALLOW:\n                        return Decision(allowed=False, rule=rule_text(acl))\n", "                    if acl.permission_type != Permission.ALLOW:\n                        denying = Decision(allowed=False, rule=rule_text(acl))\n                        continue\n"),
        Edit(AUTHORIZER, "        allowing: Acl | None = None\n", "        allowing: Acl | None = None\n        denying = None\n"),
        Edit(AUTHORIZER, "            return Decision(allowed=True, rule=rule_text(allowing))\n", "            return Decision(allowed=True, rule=rule_text(allowing))\n        if denying is not None:\n            return denying\n"),
        ci=True,
    ),
    _row(
        "A23", "an ACL counts from every host", "authorizer", ("W10",),
        Edit(AUTHORIZER, "    if host not in (WILDCARD, action.host) and not (takes_cidr and covers(host, action.host)):\n", "    if False:\n"),
    ),
    _row(
        "A24", "a denied operation denies what it would imply", "authorizer", ("W10",),
        Edit(AUTHORIZER, "    return implied is not None and permission == Permission.ALLOW and operation in implied\n", "    return implied is not None and operation in implied\n"),
    ),
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
        Edit(ACLS, "index.put(key, before[key])", "index.put(key, self.get(key))"),
    ),
    _row(
        "A52", "an ACL does not count while its removal is not committed", "authorizer", ("W10",),
        Edit(ACLS, "index.put(key, before[key])", "pass"),
    ),
    _row(
        "A31", "an ACL that is removed stays in force", "authorizer", ("W10",),
        Edit(ACLS, "        value = super().remove(key)\n        self._count(value, None)\n        self._touch(key)\n", "        value = super().remove(key)\n        self._count(value, None)\n"),
    ),
    _row(
        "A32", "a decision on one resource serves for all of its type", "authorizer", ("W10",),
        Edit(PERMISSIONS, "    key = operation, resource_type, resource_name\n", "    key = operation, resource_type\n"),
    ),
    _row(
        "A33", "a decision on a topic serves for a group of the same name", "authorizer", ("W10",),
        Edit(PERMISSIONS, "    key = operation, resource_type, resource_name\n", "    key = operation, resource_name\n"),
    ),
    # Permissions of APIs
    _row(
        "A40", "Vote needs no permission", "permissions", ("W10",),
        Edit(APIS, "    Api(VoteRequest, (0, 2), RAFT, None, CLUSTER_ACTION),\n", "    Api(VoteRequest, (0, 2), RAFT, None),\n"),
        ci=True,
    ),
    _row(
        "A41", "CreateAcls needs no permission", "permissions", ("W10",),
        Edit(APIS, "acls.create_acls, ALTER, forwardable", "acls.create_acls, None, forwardable"),
        ci=True,
    ),
    _row(
        "A42", "UnregisterBroker needs no permission", "permissions", ("W10",),
        Edit(APIS, "brokers.unregister_broker, ALTER, forwardable", "brokers.unregister_broker, None, forwardable"),
    ),
    _row(
        "A43", "DescribeQuorum needs no permission", "permissions", ("W10",),
        Edit(APIS, "    Api(DescribeQuorumRequest, (0, 2), RAFT, None, DESCRIBE, forwardable=True),\n", "    Api(DescribeQuorumRequest, (0, 2), RAFT, None, None, forwardable=True),\n"),
    ),
    _row(
        "A44", "Envelope needs no permission", "permissions", ("W10",),
        Edit("controller.node.arrivals", "            if admission.is_denied(api, context, request):\n                return\n            try:\n", "            try:\n"),
        ci=True,
    ),
    _row(
        "A45", "a forwarded request uses the decisions for its envelope", "permissions", ("W10",),
        Edit(ENVELOPE, "        decisions=None,\n", ""),
    ),
    _row(
        "A46", "a forwarded request has the principal of the broker", "identities", ("W07", "W08"),
        Edit(ENVELOPE, "        principal=principal,\n", ""),
    ),
    _row(
        "A47", "CreateTopics needs no permission for the topic", "permissions", ("W10",),
        Edit("controller.handlers.topics", "    return permission_on(state, context, env, AclOperation.CREATE, topic_type, names)\n", "    return lambda _name: True\n"),
    ),
    _row(
        "A48", "DeleteTopics needs no permission to delete", "permissions", ("W10",),
        Edit("controller.handlers.topic_deletion", "        return self._all or allows(*self._asked, AclOperation.DELETE, AclResourceType.TOPIC, name)\n", "        return True\n"),
    ),
    _row(
        "A49", "IncrementalAlterConfigs needs no permission", "permissions", ("W10",),
        Edit("controller.handlers.configs", "            if may_alter[type_](name):\n", "            if True:\n"),
    ),
    _row(
        "A50", "CreatePartitions needs no permission", "permissions", ("W10",),
        Edit("controller.handlers.partition_creation", "        if may_alter(name):\n", "        if True:\n"),
    ),
)  # fmt: skip
