"""The version and the address of kraft-quorum, a format of it, and the release of Kafka that it equals."""

VERSION = "0.1.0"
KAFKA_VERSION = "4.4.0"
# The commit of that release, which stock's tools print with the version.
KAFKA_COMMIT_ID = "1156b2752aaa28ea"

# Of a line of the audit log (docs/audit.md), which a node writes and tools read. A field may be added in the same
# format; one that is removed, or means another thing, raises it.
AUDIT_FORMAT = 1

# The https address of the public repository, without a slash at the end. Empty as long as there is none.
PROJECT_URL = ""


def project_urls(url: str = PROJECT_URL) -> dict[str, str]:
    """Label -> address, for the metadata of the distributions; empty without a public repository.

    The pages are where GitHub has them. Raises ValueError for what is no address of a repository.
    """
    if not url:
        return {}
    import re  # only a build asks

    host, path = r"[a-z0-9-]+(\.[a-z0-9-]+)+(:[0-9]{1,5})?", r"(/[A-Za-z0-9._~-]+)+"
    if not re.fullmatch(f"https://{host}{path}", url) or url.endswith(".git"):
        raise ValueError(f"PROJECT_URL: https://HOST/PATH is expected, not {url!r}")
    return {
        "Homepage": url,
        "Documentation": f"{url}/blob/v{VERSION}/docs/README.md",
        "Source": url,
        "Changelog": f"{url}/blob/v{VERSION}/CHANGELOG.md",
        "Issues": f"{url}/issues",
    }


def version_text(command: str) -> str:
    """What a command prints for `--version`."""
    return f"{command} (kraft-quorum {VERSION}, Apache Kafka {KAFKA_VERSION})"
