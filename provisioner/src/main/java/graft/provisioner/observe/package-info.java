/** Looks at the host once, and keeps what it saw as values. */
package graft.provisioner.observe;
