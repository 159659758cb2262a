/** libvirt's storage pools and volumes. */
package graft.hypervisors.libvirt.storage;
