package main

import (
	"fmt"
	"strings"

	"reprise/internal/page"
)

// variant is a change of one input.
type variant struct {
	name   string
	change func(run) run
}

// variants are inputs that are easily taken for something else.
func variants() []variant {
	list := []variant{
		{"as published", func(r run) run { return r }},
		{"bandwidth factors scale progress (SimGrid 3.32), not the bound", func(r run) run {
			r.flags += " --cfg reprise/bw-factor:progress"
			return r
		}},
		{"links carry all of their bandwidth", func(r run) run {
			r.flags += " --cfg network/bandwidth-factor:1"
			return r
		}},
		{"HPL does not copy the panel", func(r run) run {
			r.hpl = strings.Replace(r.hpl, " --copy-l", "", 1)
			return r
		}},
		{"probes do not grow dearer", func(r run) run {
			r.flags += " --cfg smpi/grow-injected-times:no"
			return r
		}},
		{"empty calls are free", func(r run) run {
			r.kernels = strings.ReplaceAll(r.kernels, "empty: charged, ", "")
			return r
		}},
		{"no cross traffic", func(r run) run {
			r.flags += " --cfg network/crosstraffic:no"
			return r
		}},
	}
	for seed := 2; seed <= 4; seed++ {
		list = append(list, variant{fmt.Sprintf("other random pivots, %d", seed-1), func(r run) run {
			r.hpl += fmt.Sprintf(" --seed %d", seed)
			return r
		}})
	}
	return list
}

// causes shows what an input is worth in two runs without noise: on Dahu, where
// processors dominate, and on paravance, where the network does.
func causes(l *runner) (section, error) {
	bases, err := l.causeRuns()
	if err != nil {
		return section{}, err
	}
	head := []string{"Gflops, difference from SMPI's in percent"}
	var runs []run
	for _, b := range bases {
		head = append(head, strings.Join(b.labels, " "))
		for _, v := range variants() {
			runs = append(runs, v.change(b.run))
		}
	}
	results, err := l.replayAll(runs)
	if err != nil {
		return section{}, err
	}
	t := page.NewTable(head...)
	for i, v := range variants() {
		cells := []string{v.name}
		for k, b := range bases {
			cells = append(cells, percent(relative(results[k*len(variants())+i].Gflops, b.smpi)))
		}
		t.Row(cells...)
	}
	return section{text: t.String()}, nil
}

// causeRuns are the runs, with SMPI's Gflops.
func (l *runner) causeRuns() ([]point, error) {
	d, err := l.readDahu()
	if err != nil {
		return nil, err
	}
	smpi, err := l.readPredictions()
	if err != nil {
		return nil, err
	}
	c1, err := d.kernels("hom_poly_2019-03", d.others)
	if err != nil {
		return nil, err
	}
	net, err := d.network("dahu_2019")
	if err != nil {
		return nil, err
	}
	const n = 100000
	dahu := point{labels: []string{"Dahu, C1, N = 100,000"}, smpi: smpi["C1"][n], run: run{
		hpl: dahuFlags(n, 128, 32, 32, "2rg", 1, "bin"), kernels: c1.yaml(), platform: net.xml(cluster{last: 31, cores: 32})}}
	other, err := l.paravancePoints(false)
	if err != nil {
		return nil, err
	}
	if len(other) == 0 {
		return nil, fmt.Errorf("no simulations of paravance in the data")
	}
	paravance := other[0]
	paravance.labels = []string{"paravance, without noise, N = " + paravance.labels[0]}
	return []point{dahu, paravance}, nil
}
