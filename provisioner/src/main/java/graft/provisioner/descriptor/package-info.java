/**
 * The descriptor: what a user writes, as records.
 *
 * <p>{@link graft.provisioner.descriptor.DescriptorReader} reads a file into a {@link
 * graft.provisioner.descriptor.Descriptor} or reports all that is wrong with it.
 */
package graft.provisioner.descriptor;
