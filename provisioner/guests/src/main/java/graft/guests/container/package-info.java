/** The root folders of containers: what they are made from, and how they are made. */
package graft.guests.container;
