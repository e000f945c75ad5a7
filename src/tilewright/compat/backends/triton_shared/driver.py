"""`triton.runtime.driver.set_active(CPUDriver())`, by which programs choose triton-shared's CPU back end."""

from tilewright.compat.backends import CPUDriver

__all__ = ["CPUDriver"]
