"""Mutants of who may do what: principals of another type, tokens of others, and answers that show too much."""

from __future__ import annotations

from simulations.mutants.row import Edit
from simulations.mutants.security import row

TOKENS, TOPICS = "controller.handlers.security.delegation_tokens", "controller.handlers.topics"
AUTHORIZER = "controller.rules.authorizer"

MUTANTS = (
    row(
        "A70", "a token for an owner of the sender's name and another type needs no right", "tokens", ("W10",),
        Edit(TOKENS, "create_refusal", "owner[:2] != context.principal[:2]", "owner.name != context.principal.name"),
    ),
    row(
        "A71", "a principal with the name of a token's owner may change it", "tokens", ("W10",),
        Edit(
            TOKENS, "usable_token", "sender != token.owner and sender not in token.renewers",
            'context.principal.name != token.owner.partition(":")[2] and sender not in token.renewers',
            names="str(context.principal)",
        ),
    ),
    row(
        "A72", "a renewer may not change a token", "tokens", ("W10",),
        Edit(TOKENS, "usable_token", "sender != token.owner and sender not in token.renewers", "sender != token.owner", names="str(context.principal)"),
    ),
    row(
        "A73", "who may create tokens of one user may create those of all", "tokens", ("W10",),
        Edit(TOKENS, "create_refusal", "allows(..., AclResourceType.USER, str(owner))", "allows(..., AclResourceType.USER, str(context.principal))", names="owner_of(context, request)"),
    ),
    row(
        "A74", "a principal of any type with the name of a super user is one", "authorizer", ("W10",),
        Edit(
            AUTHORIZER, "StandardAuthorizer.decide", "principal in self.super_users",
            'f"User:{action.principal.name}" in self.super_users', names="action.principal.type",
        ),
    ),
    row(
        "A79", "the configs of a new topic are shown to everybody", "permissions", ("W10",),
        Edit(TOPICS, "create_topic_records", "allows(..., log_denied=False)", "True"),
    ),
)  # fmt: skip
