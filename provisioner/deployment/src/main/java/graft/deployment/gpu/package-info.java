/**
 * What the CUDA driver of this machine says about its devices, asked through JCuda.
 *
 * <p>JCuda's native library is a file of the distribution, {@code lib/libJCudaDriver-*.so}, and
 * only the process that asks loads it. JCuda's own way, to unpack the library into the temporary
 * folder under a fixed name and to load what is there already, would let every user of the machine
 * run code as the user who asks.
 */
package graft.deployment.gpu;
