/**
 * The parts that only Xen needs, through libvirt's libxl driver: the kinds of guests and their
 * domain XML.
 */
package graft.hypervisors.xen;
