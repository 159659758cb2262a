/**
 * What confines a worker: a user, namespaces, a root folder and cgroups of its own, as far as the
 * machine can, and the report of what it cannot.
 */
package graft.remoting.server.jail;
