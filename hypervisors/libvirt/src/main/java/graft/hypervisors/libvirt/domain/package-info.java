/**
 * A domain as values and as XML: immutable specs, and a builder class for each element of libvirt's
 * domain XML that all hypervisors share.
 *
 * @see <a href="https://libvirt.org/formatdomain.html">libvirt: domain XML format</a>
 */
package graft.hypervisors.libvirt.domain;
