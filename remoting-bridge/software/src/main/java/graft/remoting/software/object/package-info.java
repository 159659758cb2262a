/**
 * The objects behind the handles of CUDA's driver API (contexts, streams, events, graphs, modules),
 * and what finds them. Nothing here knows a driver function; those are in the package above.
 */
package graft.remoting.software.object;
