/** A host's files, read and written below any root folder. Every write has a time limit. */
package graft.sriov.files;
