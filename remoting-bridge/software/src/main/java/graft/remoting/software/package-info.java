/**
 * A CUDA device without a GPU: it runs the PTX inside ordinary nvcc binaries on the CPU, for the
 * demo and for tests. This package is the public interface of the module: {@link
 * graft.remoting.software.SoftwareDevice}, its configuration, and {@link
 * graft.remoting.software.DeviceCode}. The other classes are the parts of the device, one for each
 * group of functions of CUDA's driver API.
 *
 * <p>A kernel passes through these packages: {@code image} finds the PTX, {@code ptx} parses it,
 * {@code lowering} turns it into the intermediate form {@code ir}, {@code analysis} divides that
 * into regions, {@code codegen} writes bytecode, {@code module} lays out variables, and {@code
 * exec} runs blocks of threads in {@code memory}.
 */
package graft.remoting.software;
