/**
 * The description of the CUDA driver API ({@code driver.api}), and the generator of the client's
 * stubs, the device interface and the server's dispatcher.
 */
package graft.remoting.api;
