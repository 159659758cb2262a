/**
 * The device under the server: the interface of the CUDA driver, implemented by the real driver or
 * by the software device.
 */
package graft.remoting.device;
