/** NVIDIA's MPS (Multi-Process Service), by which programs of several guests share a GPU. */
package graft.remoting.server.mps;
