/**
 * Programs of this host that Graft runs, the user it runs as, and where Graft itself is installed.
 */
package graft.common.program;
