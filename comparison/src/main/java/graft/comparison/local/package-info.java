/**
 * Runs programs of this machine on the GPU of a server: their environment, and a private server.
 */
package graft.comparison.local;
