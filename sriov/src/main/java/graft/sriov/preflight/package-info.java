/** What a host lacks for passthrough, as far as files show, and how to fix it. */
package graft.sriov.preflight;
