/**
 * Launches, graphs and tensor maps: the calls whose parameters are structures with handles and
 * addresses.
 */
package graft.remoting.server.session.launch;
