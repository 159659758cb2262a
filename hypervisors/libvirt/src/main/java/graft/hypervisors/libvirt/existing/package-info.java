/** Domains that somebody else made: what they have, and what can be attached to them. */
package graft.hypervisors.libvirt.existing;
