/**
 * A host's PCI and InfiniBand devices: typed views, and changes that can be undone.
 *
 * <p>This package contains the value types and exceptions that all other packages share; {@code
 * files} reads and writes the host's files below any root folder; {@code host} is the snapshot;
 * {@code netlink} and {@code vf} set the settings of one virtual function; {@code operation}
 * contains the changes; {@code plan} decides which changes a request needs; {@code preflight}
 * reports what a host lacks.
 */
package graft.sriov;
