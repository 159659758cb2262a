/**
 * What Graft keeps on disk about each set-up: its folder, its lock, its journal.
 *
 * <p>The journal says what was begun and what was done, each record on disk before the next thing
 * happens, so that a later process can go on or take it back.
 */
package graft.deployment.state;
