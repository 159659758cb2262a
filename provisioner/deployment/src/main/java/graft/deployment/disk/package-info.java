/** What becomes of guests' disks whose size in the descriptor changes. */
package graft.deployment.disk;
