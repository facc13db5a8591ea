"""A GPU as the place where rows are: an engine with its own counts and sums.

Nothing here is a learner. All that learners need of rows are sums (`graftwork.data.parts`);
`DeviceEngine` keeps the codes in the device's memory and has implementations of these sums, in
PyTorch and Triton. What it has none for runs on the rows that stay here, as without a device.

Draws and belief propagation on a device are in ``graftwork.inference.device``.
PyTorch is imported only when a device is asked for.
"""
