/** The reports of a comparison, as HTML, CSV and JSON. */
package graft.comparison.report;
