/**
 * Planning: computes the steps that change the observed host to match a descriptor.
 *
 * <p>These classes neither examine nor change the host.
 */
package graft.deployment.plan;
