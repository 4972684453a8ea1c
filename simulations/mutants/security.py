"""Mutants of security: authentication, handshakes, principals, the authorizer and its ACLs."""

from __future__ import annotations

from simulations.mutants.row import Edit, Mutant

GATE, MECHANISMS, TLS = "raft.network.sasl_gate", "raft.network.mechanisms", "raft.network.tls"
HANDSHAKES, SERVER = "raft.network.handshakes", "raft.network.server"
AUTHORIZER, PERMISSIONS = "controller.rules.authorizer", "controller.rules.permissions"
INDEX = "controller.state.tables.acl_index"
ACLS, APIS, NODE = "controller.state.tables.acls", "controller.core.apis", "controller.node.node"
ENVELOPE = "controller.node.envelope"


def row(number: str, name: str, subject: str, expected: tuple[str, ...], *edits: Edit, ci: bool = False) -> Mutant:
    return Mutant(number, name, subject, "own", expected, edits, ci=ci, seeds=60, level="secured")


MUTANTS = (
    # Authentication
    row(
        "A01", "requests pass before SASL has authenticated anybody", "authentication", ("W08",),
        Edit(
            GATE, "SaslGate.passes",
            'self._close(connection, f"{error}, before it is authenticated{hint}")\nreturn False',
            "return bool(error) or bool(hint)",
        ),
        ci=True,
    ),
    row(
        "A02", "requests pass after authentication has failed", "authentication", ("W08",),
        Edit(
            GATE, "SaslGate.passes",
            "if self._state is State.FAILED:\n    return False",
            "if self._state is State.FAILED:\n    return True",
        ),
    ),
    row(
        "A03", "any password is accepted", "authentication", ("W08", "W09"),
        Edit(
            MECHANISMS, "PlainServer.answer",
            'not hmac.compare_digest((expected or "").encode(), password.encode()) or expected is None',
            "expected is None",
        ),
        ci=True,
    ),
    row(
        "A04", "a user that is not known has the empty password", "authentication", ("W08",),
        Edit(
            MECHANISMS, "PlainServer.answer",
            'not hmac.compare_digest((expected or "").encode(), password.encode()) or expected is None',
            'not hmac.compare_digest((expected or "").encode(), password.encode()) and expected is not None',
        ),
    ),
    row(
        "A05", "a session never ends", "authentication", ("W08",),
        Edit(
            GATE, "SaslGate._passes_open",
            "self._expires_at is None or self._loop.time() < self._expires_at", "True",
        ),
    ),
    row(
        "A06", "re-authentication may change the principal", "authentication", ("W08",),
        Edit(GATE, "SaslGate._next", "self._renewing and name != self._name", "False"),
    ),
    row(
        "A07", "re-authentication needs no token", "authentication", ("W08",),
        Edit(GATE, "SaslGate._passes_open", "self._state = State.HANDSHAKE", ""),
        Edit(
            GATE, "SaslGate._handshake",
            "self._state = State.TOKENS", "self._state = State.DONE if self._renewing else State.TOKENS",
        ),
    ),
    row(
        "A09", "the authenticated principal is not kept", "identities", ("W08",),
        Edit(SERVER, "Server._open_gate", "connection.identity = identity", "pass"),
    ),
    row(
        "A10", "the principal of a certificate is not kept", "identities", ("W08",),
        Edit(SERVER, "Server._make_secured", "connection.identity = security.identity_of(tls.session)", "pass"),
        ci=True,
    ),
    row(
        "A11", "a session that is complete is not checked", "handshakes", ("W08",),
        Edit(TLS, "TlsConnection._handshake", "if self._check is not None:\n    self._check(self.session)", ""),
    ),
    row(
        "A12", "a connection begins though its handshake has failed", "handshakes", ("W08",),
        Edit(
            TLS, "TlsConnection._handshake",
            "try:\n"
            "    ...\n"
            "except (ssl.SSLWantReadError, ssl.SSLWantWriteError):\n"
            "    ...\n"
            "except (ssl.SSLError, ValueError) as error:\n"
            "    self._flush()\n"
            "    self.fail(explain(error))\n"
            "    return",
            "try:\n"
            "    ...\n"
            "except (ssl.SSLWantReadError, ssl.SSLWantWriteError):\n"
            "    ...\n"
            "except (ssl.SSLError, ValueError):\n"
            "    self._flush()",
        ),
    ),
    row(
        "A13", "the number of handshakes has no limit", "handshakes", ("W09",),
        Edit(HANDSHAKES, "Handshakes._has_place", "len(self._begun) < self._handshakes_max", "True"),
    ),
    row(
        "A14", "a handshake has no time limit", "handshakes", ("W09",),
        Edit(
            HANDSHAKES, "Handshakes._on_started",
            "self._loop.call_later(self._seconds_max, ...)", "self._loop.call_later(3600.0, ...)",
        ),
    ),
    row(
        "A15", "the size of a handshake has no limit", "handshakes", ("W09",),
        Edit(TLS, "TlsConnection.data_received", "self.received > HANDSHAKE_BYTES_MAX", "False"),
    ),
    row(
        "A16", "a listener keeps using its first certificate", "handshakes", ("L01", "L02", "L08", "L09"),
        Edit(
            HANDSHAKES, "Handshakes.make",
            "security.context()", 'self.__dict__.setdefault("first", security.context())',
            names="self._open.pop(tls, None)",
        ),
    ),
    row(
        "A17", "authentication has no time limit", "authentication", ("W09",),
        Edit(
            SERVER, "Server._await_authentication",
            "self._loop.call_later(self._authentication_s_max, ...)", "self._loop.call_later(3600.0, ...)",
        ),
    ),
    row(
        "A18", "the number of unauthenticated connections has no limit", "authentication", ("W09",),
        Edit(SERVER, "Server._await_authentication", "len(self._unauthenticated) > self._handshakes_max", "False"),
    ),
    row(
        "A08", "SaslHandshake begins anew where a token should come", "authentication", ("W08",),
        Edit(
            GATE, "SaslGate.passes",
            "if self._state is State.TOKENS and request.api_key in {API_VERSIONS, SASL_HANDSHAKE}:\n"
            "    ...\n"
            "else:\n"
            "    ...",
            "if self._state is State.TOKENS and request.api_key == SASL_HANDSHAKE:\n"
            "    self._handshake(connection, request)\n"
            "elif False:\n"
            "    ...\n"
            "else:\n"
            "    ...",
            names="connection.expect_answer(request)",
        ),
    ),
    row(
        "A19", "re-authentication may change the mechanism", "authentication", ("W08",),
        Edit(GATE, "SaslGate._handshake", "not self._renewing or self._renewing == name", "True"),
    ),
    row(
        "A34", "authentication with a credential that ends earlier does not shorten the session", "authentication", ("W08",),
        Edit(
            GATE, "SaslGate._complete",
            "self._expires_at = self._loop.time() + lifetime_ms / 1000 if limits else None",
            "ends_at = self._loop.time() + lifetime_ms / 1000 if limits else None\n"
            "self._expires_at = ends_at if None in (ends_at, self._expires_at) else max(ends_at, self._expires_at)",
        ),
    ),
    # SCRAM
    row(
        "A60", "any proof is accepted", "scram", ("W08",),
        Edit(
            MECHANISMS, "ScramServer._final",
            "not hmac.compare_digest(hashlib.new(self._hash, key).digest(), credential.stored_key)", "False",
        ),
        ci=True,
    ),
    row(
        "A61", "a server does not compare the nonce", "scram", ("W08",),
        Edit(MECHANISMS, "ScramServer._final", 'match["nonce"] != self._nonce', "False"),
    ),
    row(
        "A62", "a server adds no nonce of its own", "scram", ("W08",),
        Edit(MECHANISMS, "ScramServer._first", 'match["nonce"] + self._nonce', 'match["nonce"]'),
    ),
    row(
        "A63", "a credential may have few iterations", "scram", ("W08",),
        Edit(MECHANISMS, "ScramServer._first", "credential.iterations < ITERATIONS_MIN", "False"),
    ),
    row(
        "A64", "the authorization id of another user is ignored", "scram", ("W08",),
        Edit(
            MECHANISMS, "ScramServer._first",
            '(match["authzid"] or "").replace("=2C", ",").replace("=3D", "=")', '""',
        ),
    ),
    row(
        "A65", "a client does not compare the nonce", "scram", ("W08",),
        Edit(
            MECHANISMS, "ScramClient.answer",
            'match is None or not match["nonce"].startswith(self._nonce)', "match is None",
        ),
    ),
    row(
        "A66", "a client accepts few iterations", "scram", ("W08",),
        Edit(
            MECHANISMS, "ScramClient.answer",
            "not ITERATIONS_MIN <= iterations <= ITERATIONS_MAX", "iterations > ITERATIONS_MAX",
        ),
    ),
    row(
        "A67", "a client computes as many iterations as a server asks for", "scram", ("W08",),
        Edit(
            MECHANISMS, "ScramClient.answer",
            "not ITERATIONS_MIN <= iterations <= ITERATIONS_MAX", "iterations < ITERATIONS_MIN",
        ),
    ),
    row(
        "A68", "a client does not compare the signature of the server", "scram", ("W08",),
        Edit(
            MECHANISMS, "ScramClient.answer",
            'not hmac.compare_digest(base64_bytes(match["signature"]), self._expected)', "False",
        ),
        ci=True,
    ),
    row(
        "A69", "a client does without the signature of the server", "scram", ("W08",),
        Edit(
            MECHANISMS, "ScramClient.answer",
            'if match is None or match["signature"] is None:\n    ...',
            "if not text:\n"
            "    self.is_complete = True\n"
            "    return None\n"
            'if match is None or match["signature"] is None:\n'
            "    ...",
            names='f"n={self._user},r={self._nonce}{self._extensions},{text},{bare}"',
        ),
    ),
    # The authorizer
    row(
        "A20", "super users need ACLs", "authorizer", ("W10",),
        Edit(AUTHORIZER, "StandardAuthorizer.decide", "principal in self.super_users", "False"),
    ),
    row(
        "A21", "a principal that resembles a super user is one", "authorizer", ("W10",),
        Edit(
            AUTHORIZER, "StandardAuthorizer.decide",
            "principal in self.super_users", "any(principal[0] == each[0] for each in self.super_users)",
        ),
        ci=True,
    ),
    row(
        "A22", "allow comes before deny", "authorizer", ("W10",),
        Edit(
            AUTHORIZER, "StandardAuthorizer.decide",
            "return Decision(allowed=False, rule=rule_text(acl))",
            "denying = Decision(allowed=False, rule=rule_text(acl))\ncontinue",
        ),
        Edit(AUTHORIZER, "StandardAuthorizer.decide", "is_covered = False", "denying = None\nis_covered = False"),
        Edit(
            AUTHORIZER, "StandardAuthorizer.decide",
            "return DEFAULT_ALLOW if self.allows_without_acls and not is_covered else DEFAULT_DENY",
            "if denying is not None:\n"
            "    return denying\n"
            "return DEFAULT_ALLOW if self.allows_without_acls and not is_covered else DEFAULT_DENY",
            names="denying = None",
        ),
        ci=True,
    ),
    row(
        "A23", "an ACL counts from every host", "authorizer", ("W10",),
        Edit(
            AUTHORIZER, "fits",
            "host not in (WILDCARD, action.host) and not (takes_cidr and covers(host, action.host))", "False",
        ),
    ),
    row(
        "A24", "a denied operation denies what it would imply", "authorizer", ("W10",),
        Edit(AUTHORIZER, "fits", "... and permission == Permission.ALLOW and ...", "... and ..."),
    ),
    row(
        "A25", "no ACL operation implies another", "authorizer", ("W10",),
        Edit(AUTHORIZER, "fits", "_IMPLIED.get(action.operation)", "None"),
    ),
    row(
        "A26", "ACLs of all users count for nobody", "authorizer", ("W10",),
        Edit(AUTHORIZER, "_principals", "(principal, EVERY_USER)", "(principal,)"),
    ),
    row(
        "A27", "the default allows although the resource has ACLs", "authorizer", ("W10",),
        Edit(
            AUTHORIZER, "StandardAuthorizer.decide",
            "self.allows_without_acls and not is_covered", "self.allows_without_acls",
        ),
    ),
    row(
        "A28", "everything is allowed before the ACLs are loaded", "authorizer", ("W10",),
        Edit(
            AUTHORIZER, "StandardAuthorizer.decide",
            'raise ApiError(Error.UNKNOWN_SERVER_ERROR, "The ACLs are not loaded yet.")',
            "return DEFAULT_ALLOW",
        ),
    ),
    row(
        "A29", "a prefixed pattern covers only the name that it equals", "authorizer", ("W10",),
        Edit(INDEX, "AclIndex.patterns", "length <= len(name)", "length == len(name)"),
    ),
    row(
        "A30", "ACLs count before they are committed", "authorizer", ("W10",),
        Edit(ACLS, "Acls._settle", "change[1] < below", "True"),
    ),
    row(
        "A52", "an ACL does not count while its removal is not committed", "authorizer", ("W10",),
        Edit(ACLS, "Acls._look_up_and_settle", "before[key]", "None"),
    ),
    row(
        "A31", "an ACL that is removed stays in force", "authorizer", ("W10",),
        Edit(ACLS, "Acls.remove", "self._touch(key)", ""),
    ),
    row(
        "A32", "a decision on one resource serves for all of its type", "authorizer", ("W10",),
        Edit(PERMISSIONS, "allows", "(operation, resource_type, resource_name)", "(operation, resource_type)"),
    ),
    row(
        "A33", "a decision on a topic serves for a group of the same name", "authorizer", ("W10",),
        Edit(PERMISSIONS, "allows", "(operation, resource_type, resource_name)", "(operation, resource_name)"),
    ),
    # Permissions of APIs
    row(
        "A40", "Vote needs no permission", "permissions", ("W10",),
        Edit(APIS, "APIS", "Api(VoteRequest, ..., CLUSTER_ACTION)", "Api(VoteRequest, ...)"),
        ci=True,
    ),
    row(
        "A41", "CreateAcls needs no permission", "permissions", ("W10",),
        Edit(APIS, "APIS", "Api(..., acls.create_acls, ALTER, **...)", "Api(..., acls.create_acls, None, **...)"),
        ci=True,
    ),
    row(
        "A42", "UnregisterBroker needs no permission", "permissions", ("W10",),
        Edit(
            APIS, "APIS",
            "Api(..., brokers.unregister_broker, ALTER, **...)",
            "Api(..., brokers.unregister_broker, None, **...)",
        ),
    ),
    row(
        "A43", "DescribeQuorum needs no permission", "permissions", ("W10",),
        Edit(
            APIS, "APIS",
            "Api(DescribeQuorumRequest, ..., DESCRIBE, **...)",
            "Api(DescribeQuorumRequest, ..., None, **...)",
        ),
    ),
    row(
        "A44", "Envelope needs no permission", "permissions", ("W10",),
        Edit(
            "controller.node.arrivals", "Arrivals.take",
            "if admission.is_denied(api, context, request):\n    return", "",
        ),
        ci=True,
    ),
    row(
        "A45", "a forwarded request uses the decisions for its envelope", "permissions", ("W10",),
        Edit(ENVELOPE, "unwrap", "replace(..., **..., decisions=None)", "replace(..., **...)"),
    ),
    row(
        "A46", "a forwarded request has the principal of the broker", "identities", ("W07", "W08"),
        Edit(
            ENVELOPE, "unwrap",
            "replace(..., **..., principal=principal, **...)", "replace(..., **..., **...)",
        ),
    ),
    row(
        "A47", "CreateTopics needs no permission for the topic", "permissions", ("W10",),
        Edit(
            "controller.handlers.topics", "rights",
            "permission_on(state, context, env, AclOperation.CREATE, topic_type, names)",
            "lambda _name: True",
        ),
    ),
    row(
        "A48", "DeleteTopics needs no permission to delete", "permissions", ("W10",),
        Edit(
            "controller.handlers.topic_deletion", "Rights.may_delete",
            "self._all or allows(*self._asked, AclOperation.DELETE, AclResourceType.TOPIC, name)", "True",
        ),
    ),
    row(
        "A49", "IncrementalAlterConfigs needs no permission", "permissions", ("W10",),
        Edit("controller.handlers.configs", "split_resources", "may_alter[type_](name)", "True"),
    ),
    row(
        "A50", "CreatePartitions needs no permission", "permissions", ("W10",),
        Edit("controller.handlers.partition_creation", "filter_topics", "may_alter(name)", "True"),
    ),
)  # fmt: skip
