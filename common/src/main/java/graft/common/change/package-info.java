/** The one model of a change that can be undone: device changes and deployment steps alike. */
package graft.common.change;
