/** Checks whether a host has what Graft needs, and says how to fix what is missing. */
package graft.deployment.doctor;
