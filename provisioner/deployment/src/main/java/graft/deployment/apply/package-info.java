/** Carries plans out and undoes steps; the journal records every step first. */
package graft.deployment.apply;
