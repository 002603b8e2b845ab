import pytest
from contract.snapshots import Snapshots


@pytest.fixture
def snapshots(request: pytest.FixtureRequest) -> Snapshots:
    return Snapshots(request.config.getoption("--rewrite-snapshots"))
