/** Steps on the host that guests share: networks and servers. */
package graft.deployment.step.host;
