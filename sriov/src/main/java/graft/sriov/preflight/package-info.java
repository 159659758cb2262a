/** What a host lacks for giving its devices away, as far as files tell, and how to fix it. */
package graft.sriov.preflight;
