/**
 * Calls of libvirt's C library, and their exceptions.
 *
 * <p>Calls go through libvirt-java's binding ({@code org.libvirt.jna}) and, for functions that the
 * binding lacks, through {@link graft.hypervisors.libvirt.calls.LibvirtExtras}. libvirt-java's own
 * object layer is not used: it throws nothing if a call failed without recording an error, keeps
 * native pointers in objects that the caller must free, and hides the pointers that the missing
 * functions need.
 */
package graft.hypervisors.libvirt.calls;
