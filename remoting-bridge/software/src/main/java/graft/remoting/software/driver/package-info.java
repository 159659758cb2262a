/**
 * The CUDA driver API over the software device: contexts, streams, events, graphs, modules, memory.
 * One class a group of functions; each group extends the one before, since the interface is one.
 */
package graft.remoting.software.driver;
