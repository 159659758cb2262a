/**
 * The objects behind the handles of CUDA's driver API (contexts, streams, events, graphs, modules),
 * and the tables that find them. The driver's functions are in the package above; nothing here
 * depends on them.
 */
package graft.remoting.software.object;
