/**
 * Graft's state on disk for each deployment: its folder, its lock, its journal.
 *
 * <p>The journal records which steps were begun and done, each record on disk before the next step,
 * so that a later process can continue or undo them.
 */
package graft.deployment.state;
