"""What tests know of the files of device."""

from graftwork.device import engine, operations
from graftwork.device.engine import DeviceEngine
from graftwork.device.memory import within_memory
