/**
 * The device's memory: one native reservation, its allocations, and host memory that kernels see.
 */
package graft.remoting.software.memory;
