/**
 * Programs of this host that Graft runs, the user that Graft runs as, and the folder in which Graft
 * is installed.
 */
package graft.common.program;
