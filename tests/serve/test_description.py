"""The description of the interface holds: no request made from it breaks the server, or is answered in another way."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from serving import captioner, continuer, running, spoken

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
QUICK = settings(
    max_examples=6,  # of each route; docs/serving.md has the command of a longer run
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    models = {"toy": spoken(), "back": spoken("en", "de"), "goes-on": continuer()}
    models["describes"] = captioner(tmp_path_factory.mktemp("captions"))
    with running(models) as found:
        yield found


def test_requests_made_from_the_description_are_answered_as_it_says(server):
    routes = [
        each.ok() for each in schemathesis.openapi.from_url(f"{server.address}/openapi.json").get_all_operations()
    ]
    assert len(routes) > 20
    for route in routes:

        @settings(QUICK)
        @given(route.as_strategy())
        def check(case):
            case.call_and_validate(checks=CHECKS, timeout=60)

        check()
