/**
 * The device's memory: one native reservation, its allocations, and host memory that kernels can
 * access.
 */
package graft.remoting.software.memory;
