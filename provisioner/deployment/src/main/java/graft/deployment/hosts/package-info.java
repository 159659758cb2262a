/**
 * Deployments over many hosts: the operator's side, which asks a Graft on each host by SSH, and
 * what that Graft receives.
 */
package graft.deployment.hosts;
