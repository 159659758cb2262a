/** The journal: what was begun, done and undone, on disk before the next thing happens. */
package graft.deployment.journal;
