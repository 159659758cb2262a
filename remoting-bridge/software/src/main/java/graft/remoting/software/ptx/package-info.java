/**
 * Lexer and parser for PTX, the virtual instruction set that nvcc puts into its binaries. The
 * source is NVIDIA's "Parallel Thread Execution ISA"; comments cite its sections by name.
 */
package graft.remoting.software.ptx;
