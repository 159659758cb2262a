/**
 * What a call of the CUDA driver costs from Java, by each binding; {@code scripts/binding-bench}.
 */
package graft.remoting.binding;
