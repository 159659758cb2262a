/**
 * The CUDA driver through JNA, and GPUDirect RDMA. The driver's interface, {@code CudaDevice}, is
 * in a module of its own.
 */
package graft.remoting.server.device;
