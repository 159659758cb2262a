/** The connection to libvirt, and the interface that hides the differences between hypervisors. */
package graft.hypervisors.libvirt;
