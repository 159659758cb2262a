/**
 * The forms of the JSON that commands print, of which {@code graft schema --command} makes schemas.
 */
package graft.cli.printed;
