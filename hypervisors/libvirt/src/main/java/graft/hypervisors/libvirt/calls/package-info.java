/**
 * Calls of libvirt's C library, and what they throw.
 *
 * <p>Calls go through libvirt-java's binding ({@code org.libvirt.jna}) and, for what that lacks,
 * through {@link graft.hypervisors.libvirt.calls.LibvirtExtras}. libvirt-java's own object layer is
 * not used: it throws nothing when a call failed without recording an error, keeps native pointers
 * in objects that somebody must free, and hides the pointers that the missing calls need.
 */
package graft.hypervisors.libvirt.calls;
