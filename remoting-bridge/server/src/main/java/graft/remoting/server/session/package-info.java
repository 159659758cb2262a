/**
 * One session: {@link graft.remoting.server.session.Session} executes records in order. The calls
 * that the session does not pass to the device are in classes by group, in this package and in
 * those below.
 */
package graft.remoting.server.session;
