/**
 * Cases that run on the software device and on a real GPU, whose results are then compared: every
 * instruction over edge values, and random kernels. {@code src/test/compare/README.md} says how.
 */
package graft.remoting.software.compare;
