/**
 * What Graft keeps on disk about each deployment: its folder, its lock, its journal.
 *
 * <p>The journal says what was begun and what was done, each record on disk before the next thing
 * happens, so that a later process can continue or undo it.
 */
package graft.deployment.state;
