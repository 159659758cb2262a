/**
 * Which operations a request needs. Planning reads a snapshot and changes nothing; every reason
 * against a request is found here, all at once.
 */
package graft.sriov.plan;
