/** Routing netlink for the settings of VFs: the messages that {@code ip link} sends. */
package graft.sriov.netlink;
