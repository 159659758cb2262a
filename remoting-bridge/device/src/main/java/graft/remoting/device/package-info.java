/**
 * The device under the server: the CUDA driver's interface, implemented by a real driver or by the
 * software device.
 */
package graft.remoting.device;
