/**
 * Measures the cost of CUDA driver calls from Java by each binding; {@code scripts/binding-bench}
 * runs it.
 */
package graft.remoting.binding;
