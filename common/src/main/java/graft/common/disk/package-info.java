/** Files that are on disk, whole or not at all, when a call returns, also where power is cut. */
package graft.common.disk;
