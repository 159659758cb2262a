/** Routing netlink, as far as a VF's settings go: the messages that {@code ip link} sends. */
package graft.sriov.netlink;
