/** A snapshot of a host's PCI and RDMA devices and of who uses them, read in one pass. */
package graft.sriov.host;
