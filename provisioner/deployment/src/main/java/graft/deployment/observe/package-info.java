/** Examines the host once, and keeps the result as values. */
package graft.deployment.observe;
