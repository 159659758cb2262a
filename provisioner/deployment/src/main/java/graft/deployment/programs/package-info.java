/** Asks the servers of a deployment which programs a change would end. */
package graft.deployment.programs;
