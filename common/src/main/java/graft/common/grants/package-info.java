/**
 * The clients that may have a session at a server: the file that deployments write and servers
 * read.
 */
package graft.common.grants;
