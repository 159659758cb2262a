/**
 * Queries the CUDA driver of this machine about its devices, through JCuda.
 *
 * <p>JCuda's native library is a file of the distribution, {@code lib/libJCudaDriver-*.so}, and
 * only the process that queries the driver loads the library. By default JCuda unpacks its library
 * into the temporary folder under a fixed name, and loads a file that already has this name: every
 * user of the machine could then run code as the user who runs the query.
 */
package graft.deployment.gpu;
