/**
 * Modules, libraries, their functions, the linker, and code that the server keeps for later
 * sessions.
 */
package graft.remoting.server.session.code;
