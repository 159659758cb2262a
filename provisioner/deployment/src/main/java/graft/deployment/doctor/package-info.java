/** Looks over a host for what Graft needs, and says how to mend what is missing. */
package graft.deployment.doctor;
