"""kafka-delegation-tokens: creates, renews, expires and shows delegation tokens (KIP-48, KIP-373).

`--create` and `--describe` print the HMAC of a token, which is its secret: it is what they are called for.
"""

from __future__ import annotations

import sys
from binascii import b2a_base64

from records.java.java_forms import integer
from tools.command_line.java_texts import Uncaught, uncaught
from tools.command_line.option_tools import (
    HELP,
    VERSION,
    check_excluded,
    check_required,
    usage,
)
from tools.command_line.options import OPTIONAL_VALUE, REQUIRED_VALUE, Option, Options
from tools.command_line.standard_streams import one_line
from tools.kafka.running import run_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tools.client.admin import Admin
    from tools.command_line.options import Options
    from tools.kafka.token_calls import Principal, Token

ILLEGAL_ARGUMENT = "java.lang.IllegalArgumentException"


def _long(text: str) -> int:
    return integer(text, 64)


def _period(name: str, help: str) -> Option:  # noqa: A002 - the word of every option parser
    return Option(name, help, value=OPTIONAL_VALUE, type_name="Long", convert=_long)


DESCRIPTION = "This tool helps to create, renew, expire, or describe delegation tokens."
OPTIONS = (
    HELP,
    VERSION,
    Option("bootstrap-server", "REQUIRED: server(s) to use for bootstrapping.", value=REQUIRED_VALUE),
    Option(
        "command-config",
        "REQUIRED: A property file containing configs to be passed to Admin Client. Token management operations are "
        "allowed in secure mode only. This config file is used to pass security related configs.",
        value=REQUIRED_VALUE,
    ),
    Option("create", "Create a new delegation token. Use --renewer-principal option to pass renewer principals."),
    Option("renew", "Renew delegation token. Use --renew-time-period option to set renew time period."),
    Option("expire", "Expire delegation token. Use --expiry-time-period option to expire the token."),
    Option(
        "describe",
        "Describe delegation tokens for the given principals. Use --owner-principal to pass owner/renewer principals. "
        "If --owner-principal option is not supplied, all the user-owned tokens and tokens where the user has Describe "
        "permissions will be returned.",
    ),
    Option(
        "owner-principal",
        "owner is a Kafka principal. They should be in principalType:name format.",
        value=OPTIONAL_VALUE,
    ),
    Option(
        "renewer-principal",
        "renewer is a Kafka principal. They should be in principalType:name format.",
        value=OPTIONAL_VALUE,
    ),
    _period(
        "max-life-time-period",
        "Max life period for the token in milliseconds. If the value is -1, then token max life time will default to "
        "the server side config value of (delegation.token.max.lifetime.ms).",
    ),
    _period(
        "renew-time-period",
        "Renew time period in milliseconds. If the value is -1, then the renew time period will default to the server "
        "side config value of (delegation.token.expiry.time.ms).",
    ),
    _period(
        "expiry-time-period",
        "Expiry time period in milliseconds. If the value is -1, then the token will get invalidated immediately.",
    ),
    Option("hmac", "HMAC of the delegation token", value=OPTIONAL_VALUE),
)
MAX_LIFE, RENEW, EXPIRE = "max-life-time-period", "renew-time-period", "expiry-time-period"
# Action -> the options that it needs, and those that it excludes.
ACTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "create": ((MAX_LIFE,), ("hmac", RENEW, EXPIRE)),
    "renew": (("hmac", RENEW), ("renewer-principal", MAX_LIFE, EXPIRE, "owner-principal")),
    "expire": (("hmac", EXPIRE), ("renew", MAX_LIFE, RENEW, "owner-principal")),
    "describe": ((), (RENEW, MAX_LIFE, "hmac", EXPIRE)),
}


def main() -> int:
    """Run the tool with the arguments of this process."""
    from tools.command_line.standard_streams import running

    return running(run, "kafka-delegation-tokens")


def run(arguments: list[str]) -> int:
    """Run the tool with these arguments; returns the exit code."""
    return run_options(OPTIONS, DESCRIPTION, arguments, _run)


def _run(options: Options) -> None:
    """Run the one action that the options name. Raises Exit, OptionError, Uncaught."""
    actions = [action for action in ACTIONS if options.has(action)]
    if len(actions) != 1:
        raise usage("Command must include exactly one action: --create, --renew, --expire or --describe", OPTIONS)
    _check(options, actions[0])
    with _admin(options) as admin:
        COMMANDS[actions[0]](admin, options)


def _check(options: Options, action: str) -> None:
    """Check the options of an action. Raises Exit where one is missing, or does not belong to it."""
    where = () if options.has("bootstrap-controller") else ("bootstrap-server",)
    check_required(options, (*where, "command-config"), OPTIONS)
    check_required(options, ACTIONS[action][0], OPTIONS)
    check_excluded(options, action, ACTIONS[action][1], OPTIONS)


def _admin(options: Options) -> Admin:
    """The client of the options. Raises OptionError, Uncaught for a file or settings that are not valid."""
    from tools.client.admin import Admin
    from tools.client.settings import read_file, settings_of

    try:
        given = read_file(options.value("command-config"))
    except OSError as error:
        raise uncaught(error) from None
    return Admin(settings_of(options.value("bootstrap-server"), options.value("bootstrap-controller"), given))


def _require_value(options: Options, name: str) -> object:
    """The value of an option that needs one here. Raises OptionError, Uncaught."""
    value = options.value(name)
    if value is None:
        raise Uncaught(ILLEGAL_ARGUMENT, f"Option {name} needs a value, such as {'-1' if name != 'hmac' else 'YWJj'}")
    return value


def _period_ms(options: Options, name: str) -> int:
    return int(str(_require_value(options, name)))


def _principals(options: Options, name: str) -> list[Principal]:
    """The principals of an option. Raises Uncaught for one without a type."""
    principals = []
    for text in options.given.get(name, ()):
        kind, colon, rest = text.strip().partition(":")
        if not colon:
            refused = f"expected a string in format principalType:principalName but got {text.strip()}"
            raise Uncaught(ILLEGAL_ARGUMENT, refused)
        principals.append((kind, rest))
    return principals


def _list_text(principals: Iterable[Principal]) -> str:
    return f"[{', '.join(':'.join(principal) for principal in principals)}]"


def create(admin: Admin, options: Options) -> None:
    """`--create`. Raises OptionError, Uncaught."""
    from tools.kafka.token_calls import create_token

    renewers = _principals(options, "renewer-principal")
    lifetime_ms = _period_ms(options, MAX_LIFE)
    sys.stdout.write(
        f"Calling create token operation with renewers :{_list_text(renewers)} , max-life-time-period :{lifetime_ms}\n"
    )
    owners = _principals(options, "owner-principal")
    token = create_token(admin, owners[0] if owners else None, renewers, lifetime_ms)
    sys.stdout.write(f"Created delegation token with tokenId : {one_line(token.id)}\n")
    _print([token])


def renew(admin: Admin, options: Options) -> None:
    """`--renew`. Raises OptionError, Uncaught."""
    from tools.kafka.token_calls import renew_token

    hmac, period_ms = str(_require_value(options, "hmac")), _period_ms(options, RENEW)
    sys.stdout.write(f"Calling renew token operation with hmac :{hmac} , renew-time-period :{period_ms}\n")
    expires_ms = renew_token(admin, _decode_hmac(hmac), period_ms)
    sys.stdout.write(f"Completed renew operation. New expiry date : {_date(expires_ms)}")


def expire(admin: Admin, options: Options) -> None:
    """`--expire`. Raises OptionError, Uncaught."""
    from tools.kafka.token_calls import expire_token

    hmac, period_ms = str(_require_value(options, "hmac")), _period_ms(options, EXPIRE)
    sys.stdout.write(f"Calling expire token operation with hmac :{hmac} , expire-time-period :{period_ms}\n")
    expires_ms = expire_token(admin, _decode_hmac(hmac), period_ms)
    sys.stdout.write(f"Completed expire operation. New expiry date : {_date(expires_ms)}")


def describe(admin: Admin, options: Options) -> None:
    """`--describe`. Raises OptionError, Uncaught."""
    from tools.kafka.token_calls import describe_tokens

    owners = _principals(options, "owner-principal")
    if owners:
        sys.stdout.write(f"Calling describe token operation for owners: {_list_text(owners)}\n")
    else:
        sys.stdout.write("Calling describe token operation for current user.\n")
    tokens = describe_tokens(admin, owners)
    sys.stdout.write(f"Total number of tokens : {len(tokens)}")
    _print(tokens)


def _print(tokens: list[Token]) -> None:
    rows = [("TOKENID", "HMAC", "OWNER", "REQUESTER", "RENEWERS", "ISSUEDATE", "EXPIRYDATE", "MAXDATE")]
    rows += [
        (
            token.id,
            b2a_base64(token.hmac, newline=False).decode(),
            ":".join(token.owner),
            ":".join(token.requester),
            _list_text(token.renewers),
            _date(token.issued_ms),
            _date(token.expires_ms),
            _date(token.max_ms),
        )
        for token in tokens
    ]
    widths = (15, 30, 15, 15, 25, 15, 15, 15)
    for row in rows:
        cells = (f"{one_line(text):{width}}" for text, width in zip(row, widths, strict=True))
        sys.stdout.write(f"\n{' '.join(cells)}\n")


def _date(time_ms: int) -> str:
    """A date in the time zone of this machine, as by Java."""
    import time

    return time.strftime("%Y-%m-%dT%H:%M", time.localtime(time_ms // 1000))


def _decode_hmac(hmac: str) -> bytes:
    """The bytes of standard base64. Raises Uncaught with the text of Java's decoder."""
    from records.java.java_base64 import standard_bytes

    try:
        return standard_bytes(hmac.encode("latin-1", "replace"))
    except ValueError as error:
        raise Uncaught(ILLEGAL_ARGUMENT, str(error)) from None


COMMANDS: dict[str, Callable[[Admin, Options], None]] = {
    "create": create,
    "renew": renew,
    "expire": expire,
    "describe": describe,
}
