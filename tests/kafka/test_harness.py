"""The reports of Kafka's own tests, as the harness reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.kafka.harness import Ended, method_of, methods_apart, read_report, set_apart

if TYPE_CHECKING:
    from pathlib import Path

REPORT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="JUnit Jupiter" tests="5">
  <testcase name="passes"/>
  <testcase name="fails"><failure message="expected: &lt;1&gt;">org.opentest4j.AssertionFailedError: expected: 1
  at kafka.SomeTest</failure></testcase>
  <testcase name="asks"><error message="in memory: Controller.findTopicIds">at kafka.SomeTest</error></testcase>
  <testcase name="asks, and leaves threads"><failure message="Found 25 unexpected threads">at kafka.SomeTest</failure>
  <error message="in memory: Controller.registerBroker">at kafka.SomeTest</error></testcase>
  <testcase name="links"><error
    message="'kafka.server.QuotaFactory$QuotaManagers kafka.server.ControllerServer.quotaManagers()'"
  >java.lang.NoSuchMethodError: 'kafka.server.QuotaFactory$QuotaManagers kafka.server.ControllerServer.quotaManagers()'
  </error></testcase>
  <testcase name="combined"><skipped>a node that is both broker and controller is not served</skipped></testcase>
</testsuite>
"""


def test_a_report_says_what_failed_and_what_only_a_controller_in_the_jvm_could_answer(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    path.write_text(REPORT)

    tests = read_report(path)

    assert [(test.name, test.outcome) for test in tests] == [
        ("passes", "passed"),
        ("fails", "failed"),
        ("asks", "in memory"),
        ("asks, and leaves threads", "in memory"),
        ("links", "in memory"),
        ("combined", "combined"),
    ]
    assert tests[1] == Ended("fails", "failed", "expected: <1>")


def test_each_test_apart_has_a_reason() -> None:
    apart = methods_apart("org.apache.kafka.server.KRaftClusterTest")
    heartbeats, create = (
        Ended("testTimedOutHeartbeats(int)[1]", "failed", "null"),
        Ended("testCreateCluster()", "failed", ""),
    )
    exempt = Ended("testExemptRequestTime()", "failed", "")

    assert set_apart(heartbeats, apart) == Ended(
        "testTimedOutHeartbeats(int)[1]", "in memory", "stops the thread of a controller in its own JVM"
    )
    assert set_apart(create, apart) == create
    assert set_apart(exempt, methods_apart("kafka.server.RequestQuotaTest")).outcome == "in memory"
    assert all(apart.values())
    assert method_of(Ended("testTimedOutHeartbeats(boolean)[1]", "failed", "")) == "testTimedOutHeartbeats"
