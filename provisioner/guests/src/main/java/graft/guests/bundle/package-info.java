/** Bundles: everything that guests need, declared once for all install methods. */
package graft.guests.bundle;
