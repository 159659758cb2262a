/**
 * Modules, libraries, their functions, the linker, and the code that the server keeps for later
 * sessions.
 */
package graft.remoting.server.session.code;
