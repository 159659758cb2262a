/** Steps on the host's devices: virtual functions, drivers, huge pages, what a guest is given. */
package graft.deployment.step.device;
