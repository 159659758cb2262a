/**
 * The CUDA driver through JNA, and what it and UCX can do together. The interface, {@code
 * CudaDevice}, is in a module of its own.
 */
package graft.remoting.server.device;
