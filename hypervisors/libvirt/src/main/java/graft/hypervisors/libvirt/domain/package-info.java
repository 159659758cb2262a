/**
 * A domain as values and as XML: immutable specs, and for each element of libvirt's domain XML that
 * every hypervisor shares one class that builds it.
 *
 * @see <a href="https://libvirt.org/formatdomain.html">libvirt: domain XML format</a>
 */
package graft.hypervisors.libvirt.domain;
