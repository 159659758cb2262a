/**
 * Planning: from a descriptor and what was seen of the host to the steps that make the host so.
 *
 * <p>Nothing here looks at the host or changes it.
 */
package graft.deployment.plan;
