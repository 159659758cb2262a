/** What a host lacks for passthrough, according to its files, and how to provide it. */
package graft.sriov.preflight;
