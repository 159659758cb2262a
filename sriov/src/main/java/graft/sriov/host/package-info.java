/** A snapshot of a host's PCI and RDMA devices and of their users, read in one pass. */
package graft.sriov.host;
