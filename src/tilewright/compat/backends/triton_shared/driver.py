"""`triton.runtime.driver.set_active(CPUDriver())`, by which programs choose triton-shared's CPU back end."""

from tilewright.runtime.driver import Driver, driver_for

__all__ = ["CPUDriver"]


def CPUDriver() -> Driver:
    """tilewright's driver of the CPU."""
    return driver_for("cpu")
