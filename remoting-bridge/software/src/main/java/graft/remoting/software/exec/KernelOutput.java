package graft.remoting.software.exec;

import java.util.function.Consumer;

/**
 * Where the text that kernels write goes, in the encoding of the program. Several threads call
 * both.
 *
 * @param standard takes what {@code printf} prints
 * @param error takes the messages of failed assertions, which CUDA writes to standard error
 */
public record KernelOutput(Consumer<byte[]> standard, Consumer<byte[]> error) {}
