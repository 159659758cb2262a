/**
 * The CUDA driver API described once ({@code driver.api}) and the generator that makes the client's
 * stubs, the device interface and the server's dispatcher from it.
 */
package graft.remoting.api;
