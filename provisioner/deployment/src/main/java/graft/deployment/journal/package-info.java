/** The journal: which steps were begun, done and undone, written to disk before each step. */
package graft.deployment.journal;
