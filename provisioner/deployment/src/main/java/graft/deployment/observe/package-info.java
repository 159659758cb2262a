/** Looks at the host once, and keeps what it saw as values. */
package graft.deployment.observe;
