/**
 * Decoding of records: parameters, the client's ids and the device's handles, and the check of
 * every address. {@code Dispatcher} and {@code SessionCalls} are generated from {@code driver.api}.
 */
package graft.remoting.server.session.call;
