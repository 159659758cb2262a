/** The connection to libvirt, and the one interface behind which hypervisors differ. */
package graft.hypervisors.libvirt;
