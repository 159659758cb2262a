package graft.remoting.software.exec;

import java.util.function.Consumer;

/**
 * Receives the text that kernels write, in the encoding of the program. Several threads call both
 * consumers.
 *
 * @param standard receives what {@code printf} prints
 * @param error receives the messages of failed assertions, which CUDA writes to standard error
 */
public record KernelOutput(Consumer<byte[]> standard, Consumer<byte[]> error) {}
