/** NVIDIA's profiling library (CUPTI) in the worker: when the session's work ran on the GPU. */
package graft.remoting.server.profile;
