/** A host's files: read and written below any root folder, every write with a time limit. */
package graft.sriov.files;
