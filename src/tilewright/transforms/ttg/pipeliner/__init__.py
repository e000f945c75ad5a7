"""Software pipelining of loops: schedules, the buffers that they need, and loops that work on several iterations."""
