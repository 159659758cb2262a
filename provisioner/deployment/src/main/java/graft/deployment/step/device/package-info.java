/** Steps on the host's devices: virtual functions, drivers, huge pages, assigned devices. */
package graft.deployment.step.device;
