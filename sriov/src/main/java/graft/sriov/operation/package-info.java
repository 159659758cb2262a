/** The changes that can be made to a host: each says what it does and can be undone. */
package graft.sriov.operation;
