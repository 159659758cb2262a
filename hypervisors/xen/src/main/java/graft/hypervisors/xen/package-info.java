/** What only Xen does, through libvirt's libxl driver: its kinds of guests and their domain XML. */
package graft.hypervisors.xen;
