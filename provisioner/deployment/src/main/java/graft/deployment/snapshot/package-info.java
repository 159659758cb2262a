/** Snapshots of the disks of guests that are off. */
package graft.deployment.snapshot;
