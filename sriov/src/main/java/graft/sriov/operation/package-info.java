/** The changes that can be made to a host. Each change can describe itself and can be undone. */
package graft.sriov.operation;
