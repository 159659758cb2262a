/**
 * What confines a worker: a user, namespaces, a root folder and cgroups of its own, as far as the
 * host allows them, and the report of what it does not allow.
 */
package graft.remoting.server.jail;
