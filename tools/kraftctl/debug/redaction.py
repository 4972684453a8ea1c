"""What must not leave the machine in a bundle: secrets in any case, names on request.

A secret is hidden where it is known (the configuration and the files that it names) and where its form tells: a private
key, a token, `password=…`. Names get pseudonyms, the same for one name in one bundle: each known name, and each word
that is neither a number nor a word of this product.
"""

from __future__ import annotations

import re
from functools import cached_property

from records.hidden_text import HIDDEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

_WORDS_FOR_SECRETS = "passw|passphrase|pwd|secret|credential|jaas|token|salt|hmac"
SECRET_KEY = re.compile(
    rf"{_WORDS_FOR_SECRETS}|private.?key|stored.?key|server.?key|api.?key|authorization", re.IGNORECASE
)
# A shorter secret is replaced only where it stands alone, as it may be a part of any word.
ALONE_BELOW = 8
# From the word that tells it. Repetitions are bounded, as the text may be anybody's: a log, a name.
_KEY = rf"(?:{_WORDS_FOR_SECRETS}|(?:private|stored|server|api)[_.\-]?key)[\w.\-]{{0,200}}"
_LIST = r'\[(?:"(?:[^"\\\n]|\\.)*"|[^\]"\n])*\]?'
_VALUE = rf'"(?:[^"\\\n]|\\.)*"?|\'[^\'\n]*\'?|\\"[^"\n]*"?|{_LIST}|[^\s,;)}}\]]+'
# (what is hidden, what stays of it)
_FORMS = (
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:.*?-----END [A-Z ]*PRIVATE KEY-----|.*)", re.DOTALL), HIDDEN),
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]*(?:\.[\w-]*)*"), HIDDEN),
    (re.compile(r"\b(Bearer|Basic|Negotiate)(\s+)[\w.~+/=-]{4,}"), rf"\1\2{HIDDEN}"),
    (re.compile(rf"({_KEY}\\?[\"']?\s{{0,8}}[=:]\s{{0,8}})(?!\[hidden\])(?:{_VALUE})", re.IGNORECASE), rf"\1{HIDDEN}"),
    (re.compile(r"(\w://)[^\s/\"']+@"), rf"\1{HIDDEN}@"),
    (re.compile(r"(\w://[^\s?\"']{1,2000}\?)[^\s\"']+"), rf"\1{HIDDEN}"),
)
_IPV6 = re.compile(
    r"(?<![\w:])(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(?![\w:])|(?<![\w:])[0-9a-f:]*::[0-9a-f:]*", re.IGNORECASE
)
_WORD = re.compile(r"[^\s\"'=,;:()\[\]{}<>|/\\@#!?*&%$+~^`…]+")
_NUMBER = re.compile(
    r"-?\d+(?:\.\d+){0,2}(?:e[+-]?\d+)?(?:ms|us|s|m|h|d|B|KiB|MiB|GiB|Z)?\.?"
    r"|\d{4}-\d\d-\d\d(?:T\d\d)?|\d{20}(?:-\d{10})?\.\w+",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# Values of these keys are ids that Kafka draws, not names.
_ID_KEYS = re.compile(r"(?:^id|Id|Ids|_id|_ids|directories|Directories|logDirs|LogDirs)$")
_UUID = re.compile(r"[\w-]{22}")


class Redaction:
    """secrets: texts that are hidden wherever they are. names: those known; None to leave names as they are.

    key: of the pseudonyms, drawn for one bundle, so that no name can be guessed from its pseudonym. hidden: how many
    texts were changed.
    """

    def __init__(self, secrets: Iterable[str], names: Iterable[str] | None, key: bytes) -> None:
        from base64 import b64encode

        every = {secret for secret in secrets if secret.strip()}
        every |= {b64encode(secret.encode()).decode().rstrip("=") for secret in every}
        self._secrets = _any_of(every)
        self._names = frozenset(word for name in names or () for word in _WORD.findall(name) if not word.isdigit())
        self.removes_names = names is not None
        self._key = key
        self.hidden = 0

    def text(self, text: str) -> str:
        """The text without secrets, and without names if they are removed."""
        clean_text = self.without_secrets(text)
        if self.removes_names:
            clean_text = self._without_names(clean_text)
        self.hidden += clean_text != text
        return clean_text

    def without_secrets(self, text: str) -> str:
        if self._secrets is not None:
            text = self._secrets.sub(HIDDEN, text)
        for form, rest in _FORMS:
            text = form.sub(rest, text)
        return text

    def value(self, value: Any, key: str = "") -> Any:
        """A tree of JSON with each text redacted. The keys are ours, and stay. key: under which the value stands."""
        if isinstance(value, dict):
            return {name: self.value(each, name) for name, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(each, key) for each in value]
        if not isinstance(value, str):
            return value
        if self.removes_names and _ID_KEYS.search(key) and _UUID.fullmatch(value):
            return self.without_secrets(value)
        return self.text(value)

    def pseudonym(self, name: str) -> str:
        import hmac

        return f"name-{hmac.digest(self._key, name.encode('utf-8', 'surrogateescape'), 'sha256').hex()[:10]}"

    def _without_names(self, text: str) -> str:
        text = _IPV6.sub(lambda match: self.pseudonym(match[0]), text)
        return _WORD.sub(self._word, text)

    def _word(self, match: re.Match[str]) -> str:
        word = match[0]
        name, dash, number = word.rpartition("-")
        if dash and number.isdigit() and name in self._names:
            return f"{self.pseudonym(name)}-{number}"  # a partition of a topic
        if word in self._names:
            return self.pseudonym(word)
        bare = word.rstrip(".").lower()
        if not bare or bare in self._vocabulary or _NUMBER.fullmatch(word) or _PSEUDONYM.fullmatch(word):
            return word
        # An identifier of our words, as `high_watermark` and `LeaderChange` are.
        if word.replace("_", "").isalpha() and {part.lower() for part in _CAMEL.findall(word)} <= self._vocabulary:
            return word
        return self.pseudonym(word)

    @cached_property
    def _vocabulary(self) -> frozenset[str]:
        return vocabulary()


_PSEUDONYM = re.compile(r"name-[0-9a-f]{10}|hidden")


def _any_of(texts: set[str]) -> re.Pattern[str] | None:
    """Matches any of the texts, the longest first; short ones only where they stand alone. None without any."""
    if not texts:
        return None
    parts = [
        rf"(?<!\w){re.escape(text)}(?!\w)" if len(text) < ALONE_BELOW else re.escape(text)
        for text in sorted(texts, key=lambda text: (-len(text), text))
    ]
    return re.compile("|".join(parts))


def vocabulary() -> frozenset[str]:
    """The words, in lower case, that this product writes itself: its events, messages, keys, names of the protocol."""
    import os

    from controller.config.keys import client_metrics, group, own, server, topic
    from controller.node.logging.log_events import EVENTS, LOGGERS
    from controller.node.logging.problems import TEXTS
    from raft.storage import names as files
    from raft.storage.directory_lock import LOCK
    from raft.storage.meta_properties import META_PROPERTIES
    from records import errors
    from records.metadata_log import METADATA_TOPIC, PARTITION_DIRECTORY
    from records.registry import APIS, METADATA_RECORDS

    whole = [*EVENTS, *LOGGERS, *(name for table in (APIS, METADATA_RECORDS) for name, _ in table.values())]
    whole += [*(error.name for error in errors.Error), "cluster.id", "directory.id", "metadata.version"]
    whole += [LOCK, META_PROPERTIES, METADATA_TOPIC, PARTITION_DIRECTORY, files.QUORUM_STATE, files.EPOCH_CHECKPOINT]
    whole += [files.PARTITION_METADATA, files.COMMITTED_PREFIX, "bootstrap.checkpoint"]
    whole += [key.name for keys in (server, own, topic, group, client_metrics) for key in keys.KEYS]
    texts = [*(f"{event.level} {event.meaning}" for event in EVENTS.values()), *map(str, TEXTS.values()), _WORDS]
    texts += [os.strerror(number) for number in range(1, 134)]
    words = {name.lower() for name in whole}
    words.update(part.lower() for name in whole for part in _CAMEL.findall(name))
    words.update(word.lower() for text in texts for word in re.findall(r"[A-Za-z]+", text))
    return frozenset(words)


# Words of the views, the doctor and the probes that no table has.
_WORDS = """
a above absent ago all alive also an and answer answered answers any are as at be because been before begins behind but
by bytes can cannot caught check checkpoint checks clock closed committed configuration connect connection contact
controller controllers correct days delay different directories directory disk does done down end ends epoch error
errors expires failed fence fenced file files first follower follows for format formatted found free from full good has
have high his host id ids if in info is it its json last leader leads least left lock log loop longest lowest metadata
milliseconds minute missing more names needs never newer newest no node none not now observer of offset offsets ok
older on one only open or other others owner partition pending permission port process prospective quorum ready record
records recovered remedy removed replayed role running runs same second seconds segment set set since snapshot start
started starts state static stop stopped stopping than that the their then there they this to topic true false two
unattached under unfenced unknown up until upgrade uncommitted value version voted voter voters wait waits warn was
which while will with within without write writes written yet your fatal debug trace warning none null leader candidate
resigned kafka kraft quorum stderr stdout plaintext ssl sasl sasl_plaintext sasl_ssl allow deny any literal prefixed
read create delete alter describe cluster group user delegation transactional
inf stacks parts collected
ext4 xfs btrfs zfs overlay tmpfs nfs nfs4 rw ro relatime noatime discard linux darwin
"""


def secrets_of(originals: Mapping[str, str], looked_up: Iterable[str]) -> set[str]:
    """The secrets of a configuration: values of its secret and unknown keys, and what config providers looked up."""
    from controller.config.keys import own, server

    secrets: set[str] = set()
    for name, value in originals.items():
        key = server.KEYS.get(name) or own.KEYS.get(name)
        if name.endswith("jaas.config"):
            secrets |= jaas_secrets(value)
        elif name in looked_up or (key is not None and key.sensitive) or (key is None and _may_be_secret(name, value)):
            secrets.add(value)
    return secrets


def _may_be_secret(name: str, value: str) -> bool:
    """Whether the value of an unknown key is hidden elsewhere too, beside its own place."""
    return bool(SECRET_KEY.search(name)) or (len(value) >= ALONE_BELOW and not value.isdigit())


def jaas_secrets(text: str) -> set[str]:
    """The values of all options but the name of the user. They may be quoted."""
    options = re.findall(r"([\w.\-]+)\s*=\s*(\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\s;\"']+)", text)
    return {value.strip("\"'") for name, value in options if name not in {"username", "principal", "serviceName"}}
