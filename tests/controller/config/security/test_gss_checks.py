"""Which settings of GSSAPI are refused when a node starts."""

from __future__ import annotations

import pytest

from controller.config.served import served_config
from records.java.config_error import ConfigError
from tests.controller.config.security.test_security_checks import given

MODULE = "com.sun.security.auth.module.Krb5LoginModule"
JAAS = "listener.name.controller.gssapi.sasl.jaas.config"
KEYTAB = f'{MODULE} required useKeyTab=true keyTab="/k" principal="kafka/h@R"'
SERVED = {JAAS: KEYTAB + ";", "sasl.kerberos.service.name": "kafka"}


@pytest.mark.parametrize("changes", [{}, {JAAS: KEYTAB + " serviceName=kafka;"}])
def test_a_keytab_and_a_service_are_enough(changes):
    assert served_config(given("SASL_PLAINTEXT", **SERVED | changes)).node_id == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({JAAS: f"{MODULE} required;"}, "has no useKeyTab: set it to true"),
        ({JAAS: f"{MODULE} required useKeyTab=true;"}, "has no principal: set it to that of this node"),
        ({JAAS: KEYTAB + " serviceName=other;"}, "Conflicting serviceName values"),
        ({"sasl.kerberos.service.name": ""}, "No serviceName defined in either JAAS or Kafka config"),
        ({"sasl.kerberos.principal.to.local.rules": "x"}, "Invalid rule: x"),
        ({"listener.name.controller.gssapi.sasl.login.class": "a.B"}, "names a Java class"),
    ],
)
def test_what_is_not_served_is_refused_in_one_line(changes, said):
    with pytest.raises(ConfigError) as error:
        served_config(given("SASL_PLAINTEXT", **SERVED | changes))
    assert said in str(error.value)
    assert "\n" not in str(error.value)
