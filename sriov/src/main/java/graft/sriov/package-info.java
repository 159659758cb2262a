/**
 * A host's PCI and InfiniBand: typed pictures of it and the changes that can be made to it and
 * undone.
 *
 * <p>This package holds the value types and errors that all others share; {@code files} reads and
 * writes the host's files below any root folder; {@code host} is the snapshot; {@code netlink} and
 * {@code vf} set what belongs to one virtual function; {@code operation} holds the changes; {@code
 * plan} decides which changes a request needs; {@code preflight} says what is missing.
 */
package graft.sriov;
