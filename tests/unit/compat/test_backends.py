"""`triton.backends.backends`: programs look there for the one driver that is active."""

from __future__ import annotations

import pytest

from tilewright.compat.backends import CPUDriver, CudaDriver, backends
from tilewright.support import knobs
from tilewright.targets.cuda import driver as cuda


class Present:
    """A machine with a GPU."""

    capability = 90

    def device(self, number: int) -> Present:
        return self


@pytest.mark.parametrize(
    ("target", "active"), [("", CudaDriver), ("cuda", CudaDriver), ("cpu", CPUDriver), ("reference", CPUDriver)]
)
def test_one_driver_is_active_beside_a_gpu(target: str, active: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "cuda_driver", Present)
    with knobs.scope(target=target, interpret=False):
        assert [each.driver for each in backends.values() if each.driver.is_active()] == [active]
