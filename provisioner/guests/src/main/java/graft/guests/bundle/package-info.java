/** Bundles: what a guest needs, declared once for every way in. */
package graft.guests.bundle;
