"""`--add-scram`: credentials that a new cluster starts with (KIP-900, RFC 5802)."""

from __future__ import annotations

from controller.offline.formatting import ILLEGAL_ARGUMENT, FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from records.metadata.security import UserScramCredentialRecord

# name: (number in records, hash, the name of Java's constant)
MECHANISMS = {"SCRAM-SHA-256": (1, "sha256", "SCRAM_SHA_256"), "SCRAM-SHA-512": (2, "sha512", "SCRAM_SHA_512")}
ITERATIONS_MIN = 4096
ITERATIONS_MAX = 16384
_SALT_BITS = 130
_BASE_36 = "0123456789abcdefghijklmnopqrstuvwxyz"


def scram_record(argument: str, draw: Callable[[int], int]) -> UserScramCredentialRecord:
    """The record of `MECHANISM=[name=x,password=y]`. draw: returns this many random bits. Raises FormatError."""
    argument = argument.strip()
    mechanism, equals, configuration = argument.partition("=")
    if not equals:
        raise FormatError(f"Failed to find equals sign in SCRAM argument '{argument}'")
    if mechanism not in MECHANISMS:
        raise FormatError(f"The add-scram mechanism {mechanism} is not supported.")
    if not configuration.startswith("["):
        raise FormatError("Expected configuration string to start with [")
    if not configuration.endswith("]"):
        raise FormatError("Expected configuration string to end with ]")
    return _record(mechanism, _components(configuration[1:-1]), draw)


def _components(text: str) -> dict[str, str]:
    parts = text.split(",")
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    found = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals:
            raise FormatError(f"No equals sign found in SCRAM component: {part}")
        if len(value) >= 2 and value.startswith('"') and value.endswith('"'):
            value = value[1:-1]
        found[key] = value
    return found


def _record(mechanism: str, given: dict[str, str], draw: Callable[[int], int]) -> UserScramCredentialRecord:
    from hashlib import new, pbkdf2_hmac
    from hmac import digest

    from records.metadata.security import UserScramCredentialRecord

    number, hash_name, constant = MECHANISMS[mechanism]
    name = given.pop("name", None)
    if name is None:
        raise FormatError("You must supply 'name' to add-scram")
    salt = _decoded(given.pop("salt", None), "salt")
    iterations = _iterations(given.pop("iterations", None))
    password = given.pop("password", None)
    salted = None
    if password is None:
        if "saltedpassword" not in given:
            raise FormatError("You must supply one of 'password' or 'saltedpassword' to add-scram")
        if salt is None:
            raise FormatError("You must supply 'salt' with 'saltedpassword' to add-scram")
        salted = _decoded(given.pop("saltedpassword"), "saltedPassword")
    else:
        given.pop("saltedpassword", None)
    if given:
        raise FormatError(f"Unknown SCRAM configurations: {', '.join(sorted(given))}")
    if iterations < ITERATIONS_MIN:
        raise FormatError(f"The 'iterations' value must be >= {ITERATIONS_MIN} for add-scram using {constant}")
    if iterations > ITERATIONS_MAX:
        raise FormatError(f"The 'iterations' value must be <= {ITERATIONS_MAX} for add-scram using {constant}")
    if salt is None:
        salt = new_salt(draw)
    if salted is None:
        if not password:
            raise FormatError("Empty key", ILLEGAL_ARGUMENT)
        salted = pbkdf2_hmac(hash_name, password.encode(), salt, iterations)
    client_key = digest(salted, b"Client Key", hash_name)
    return UserScramCredentialRecord(
        name=name,
        mechanism=number,
        salt=salt,
        stored_key=new(hash_name, client_key).digest(),
        server_key=digest(salted, b"Server Key", hash_name),
        iterations=iterations,
    )


def _decoded(text: str | None, what: str) -> bytes | None:
    from base64 import b64decode

    if text is None:
        return None
    try:
        return b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError:
        # The value is not repeated in the error: it may be derived from a password.
        shown = text if what == "salt" else "[hidden]"
        raise FormatError(f"Failed to decode given {what}: {shown}") from None


def _iterations(text: str | None) -> int:
    from controller.offline.java_forms import integer

    if text is None:
        return ITERATIONS_MIN
    try:
        return integer(text)
    except ValueError:
        raise FormatError(f"Failed to parse iterations count: {text}") from None


def new_salt(draw: Callable[[int], int]) -> bytes:
    """A random salt, in the form of Kafka's: a number of 130 bits in base 36."""
    number = draw(_SALT_BITS)
    text = ""
    while number or not text:
        number, digit = divmod(number, 36)
        text = _BASE_36[digit] + text
    return text.encode()
