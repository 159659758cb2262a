/** The capabilities of a host, as reported by its libvirt daemon. */
package graft.hypervisors.libvirt.capabilities;
