"""`--add-scram`: credentials that a new cluster starts with (KIP-900, RFC 5802)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from records.metadata.security import UserScramCredentialRecord

# name: (number in records, hash, the name of Java's constant)
MECHANISMS = {"SCRAM-SHA-256": (1, "sha256", "SCRAM_SHA_256"), "SCRAM-SHA-512": (2, "sha512", "SCRAM_SHA_512")}
ILLEGAL_ARGUMENT = "java.lang.IllegalArgumentException"
ITERATIONS_MIN = 4096
ITERATIONS_MAX = 16384
_SALT_BITS = 130
_BASE_36 = "0123456789abcdefghijklmnopqrstuvwxyz"


class ScramArgumentError(Exception):
    """An argument that is no credential. java_class: of Java's exception; None if only the text is printed."""

    def __init__(self, message: str, java_class: str | None = None) -> None:
        super().__init__(message)
        self.java_class = java_class


def scram_record(argument: str, draw: Callable[[int], int]) -> UserScramCredentialRecord:
    """The record of `MECHANISM=[name=x,password=y]`. draw: returns this many random bits. Raises ScramArgumentError."""
    argument = argument.strip()
    mechanism, equals, configuration = argument.partition("=")
    if not equals:
        raise ScramArgumentError(f"Failed to find equals sign in SCRAM argument '{argument}'")
    if mechanism not in MECHANISMS:
        raise ScramArgumentError(f"The add-scram mechanism {mechanism} is not supported.")
    if not configuration.startswith("["):
        raise ScramArgumentError("Expected configuration string to start with [")
    if not configuration.endswith("]"):
        raise ScramArgumentError("Expected configuration string to end with ]")
    return _record(mechanism, _components(configuration[1:-1]), draw)


def _components(text: str) -> dict[str, str]:
    parts = text.split(",")
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    components = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals:
            raise ScramArgumentError(f"No equals sign found in SCRAM component: {part}")
        if len(value) >= 2 and value.startswith('"') and value.endswith('"'):
            value = value[1:-1]
        components[key] = value
    return components


def _record(mechanism: str, given: dict[str, str], draw: Callable[[int], int]) -> UserScramCredentialRecord:
    from hashlib import new, pbkdf2_hmac
    from hmac import digest

    from records.metadata.security import UserScramCredentialRecord

    number, hash_name, constant = MECHANISMS[mechanism]
    name = given.pop("name", None)
    if name is None:
        raise ScramArgumentError("You must supply 'name' to add-scram")
    salt = _decode(given.pop("salt", None), "salt")
    iterations = _iterations(given.pop("iterations", None))
    password = given.pop("password", None)
    salted = None
    if password is None:
        if "saltedpassword" not in given:
            raise ScramArgumentError("You must supply one of 'password' or 'saltedpassword' to add-scram")
        if salt is None:
            raise ScramArgumentError("You must supply 'salt' with 'saltedpassword' to add-scram")
        salted = _decode(given.pop("saltedpassword"), "saltedPassword")
    else:
        given.pop("saltedpassword", None)
    if given:
        raise ScramArgumentError(f"Unknown SCRAM configurations: {', '.join(sorted(given))}")
    if iterations < ITERATIONS_MIN:
        raise ScramArgumentError(f"The 'iterations' value must be >= {ITERATIONS_MIN} for add-scram using {constant}")
    if iterations > ITERATIONS_MAX:
        raise ScramArgumentError(f"The 'iterations' value must be <= {ITERATIONS_MAX} for add-scram using {constant}")
    if salt is None:
        salt = new_salt(draw)
    if salted is None:
        if not password:
            raise ScramArgumentError("Empty key", ILLEGAL_ARGUMENT)
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


def _decode(text: str | None, what: str) -> bytes | None:
    from base64 import b64decode

    if text is None:
        return None
    try:
        return b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError:
        # The value is not repeated in the error: it may be derived from a password.
        shown = text if what == "salt" else "[hidden]"
        raise ScramArgumentError(f"Failed to decode given {what}: {shown}") from None


def _iterations(text: str | None) -> int:
    from records.java.java_forms import integer

    if text is None:
        return ITERATIONS_MIN
    try:
        return integer(text)
    except ValueError:
        raise ScramArgumentError(f"Failed to parse iterations count: {text}") from None


def new_salt(draw: Callable[[int], int]) -> bytes:
    """A random salt, in the form of Kafka's: a number of 130 bits in base 36."""
    number = draw(_SALT_BITS)
    text = ""
    while number or not text:
        number, digit = divmod(number, 36)
        text = _BASE_36[digit] + text
    return text.encode()
