// Package page writes the measured parts of Markdown pages: tables, numbers as
// people read them, plots in SVG, and sections between marks that programs rewrite
// while the text around them stays as it was written.
package page
