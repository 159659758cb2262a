/**
 * Programs of this machine on a GPU that a server has: what leads them there, and a private server.
 */
package graft.comparison.local;
