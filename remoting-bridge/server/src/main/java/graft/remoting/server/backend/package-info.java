/**
 * The kinds of devices that sessions can have: CUDA and the software device. A further kind is
 * added as a service of {@link graft.remoting.server.backend.Backend}.
 */
package graft.remoting.server.backend;
