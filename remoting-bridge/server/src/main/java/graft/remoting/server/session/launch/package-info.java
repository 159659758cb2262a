/**
 * Launches, graphs and tensor maps: calls whose parameters are structures with handles and
 * addresses in them.
 */
package graft.remoting.server.session.launch;
