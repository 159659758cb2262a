/**
 * A CUDA device without a GPU: it runs the PTX inside ordinary nvcc binaries on the CPU, for the
 * demo and for tests. Start at {@link graft.remoting.software.SoftwareDevice}.
 *
 * <p>The way of a kernel: {@code image} finds the PTX, {@code ptx} parses it, {@code ir} lowers it
 * to a typed form and cuts it into regions, {@code codegen} writes bytecode, {@code module} lays
 * out variables, {@code exec} runs blocks of threads in {@code memory}; {@code driver} is the CUDA
 * driver API over all that.
 */
package graft.remoting.software;
