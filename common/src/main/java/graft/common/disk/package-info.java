/**
 * Files that are completely on disk, or not at all, when a call returns, even if the power fails.
 */
package graft.common.disk;
