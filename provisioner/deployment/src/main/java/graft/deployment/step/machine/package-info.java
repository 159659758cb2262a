/** Steps on machines that Graft did not make. */
package graft.deployment.step.machine;
