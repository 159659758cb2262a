/**
 * The health of the GPUs that a server serves, as the driver's NVML tells it: a GPU that cannot be
 * used any more takes no new sessions.
 */
package graft.remoting.server.health;
