/** What the host of a libvirt daemon can do, as the daemon says. */
package graft.hypervisors.libvirt.capabilities;
