/** Carries plans out, and takes steps back, with every step in the journal first. */
package graft.deployment.apply;
