/**
 * The parts that only Linux containers need, through libvirt's LXC driver: their features and their
 * domain XML.
 */
package graft.hypervisors.lxc;
