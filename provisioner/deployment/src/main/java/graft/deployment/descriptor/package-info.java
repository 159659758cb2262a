/**
 * The descriptor as records, and the rules that it must keep.
 *
 * <p>{@link graft.deployment.descriptor.DescriptorReader} reads a file into a {@link
 * graft.deployment.descriptor.Descriptor} or reports all that is wrong with it. The parts of a
 * descriptor are in packages by subject: {@code guest}, {@code gpu}, {@code fabric}.
 */
package graft.deployment.descriptor;
