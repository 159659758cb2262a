/** Bundles: what a guest needs, declared once for all install methods. */
package graft.guests.bundle;
