/** Files that are written durably and atomically: a power cut leaves the old content or the new. */
package graft.common.disk;
