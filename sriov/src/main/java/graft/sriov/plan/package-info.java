/**
 * The operations that a request needs. Planning reads a snapshot and changes nothing. Planning
 * reports all problems of a request at once.
 */
package graft.sriov.plan;
