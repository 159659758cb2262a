/**
 * The audit trail: who connected, was refused, or changed access and deployments, one JSON object a
 * line. The server and the command line write it.
 */
package graft.common.audit;
