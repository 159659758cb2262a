/** Asks guests to shut down. */
package graft.deployment.power;
