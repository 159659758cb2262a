/**
 * One session: {@link graft.remoting.server.session.Session} executes records one after another.
 * The calls that it does not pass to the device are in classes by group, here and in the packages
 * below.
 */
package graft.remoting.server.session;
