package main

import (
	"fmt"
	"strconv"
)

// dahu is what the published simulations of Dahu were given.
type dahu struct {
	networks  map[string]*network
	gemms     map[string]*gemmModel
	others    otherKernels
	linkNoise string // of the network, YAML
}

// gemmModel is one of the published sets of dgemm models.
type gemmModel struct {
	all        gemm // the default, or the only one
	processors []processor
}

// readDahu reads dahu/platforms.json, dahu/dgemm_cpu_models.csv and
// dahu/kernels.json.
func (l *runner) readDahu() (*dahu, error) {
	d := &dahu{}
	var p struct{ Platforms map[string]*network }
	if err := l.document("dahu/platforms.json", &p); err != nil {
		return nil, err
	}
	d.networks = p.Platforms
	var err error
	if d.gemms, err = l.readGemms("dahu/dgemm_cpu_models.csv"); err != nil {
		return nil, err
	}
	if d.others, err = l.readOthers("dahu/kernels.json"); err != nil {
		return nil, err
	}
	d.linkNoise, err = l.readLinkNoise("dahu/stochastic_network.json")
	return d, err
}

// readGemms reads sets of dgemm models; a table of one set has no column model.
func (l *runner) readGemms(name string) (map[string]*gemmModel, error) {
	s, err := l.csvTable(name, "cpu_id", "mu_mnk", "mu_intercept", "sigma_mnk")
	if err != nil {
		return nil, err
	}
	sets := map[string]*gemmModel{}
	for _, r := range s.rows {
		set := sets[r.text("model")]
		if set == nil {
			set = &gemmModel{}
			sets[r.text("model")] = set
		}
		g := gemm{r.polynomial("mu_"), r.polynomial("sigma_")}
		id, err := strconv.Atoi(r.text("cpu_id"))
		if err != nil {
			set.all = g
			continue
		}
		set.processors = append(set.processors, processor{id / 2, id % 2, g})
	}
	return sets, s.err
}

func (r row) polynomial(prefix string) polynomial {
	return polynomial{r.number(prefix + "mnk"), r.number(prefix + "mn"), r.number(prefix + "mk"), r.number(prefix + "nk"), r.number(prefix + "intercept")}
}

// readOthers reads the models of all kernels but dgemm.
func (l *runner) readOthers(name string) (otherKernels, error) {
	var file struct {
		Kernels []struct {
			Kernel   string
			Form     string
			Mean, SD float64
		}
	}
	if err := l.document(name, &file); err != nil {
		return nil, err
	}
	o := otherKernels{}
	for _, k := range file.Kernels {
		switch k.Form {
		case "coef*size", "constant":
			o[k.Kernel] = coefficient{k.Mean, k.SD}
		case "zero":
		default:
			return nil, fmt.Errorf("%s: kernel %s: unknown form %q", name, k.Kernel, k.Form)
		}
	}
	return o, nil
}

// network returns one of the calibrated networks.
func (d *dahu) network(name string) (*network, error) {
	n, ok := d.networks[name]
	if !ok {
		return nil, fmt.Errorf("no network %q in the data", name)
	}
	return n, nil
}

// gemm returns one of the sets of dgemm models.
func (d *dahu) gemm(set string) (*gemmModel, error) {
	g, ok := d.gemms[set]
	if !ok {
		return nil, fmt.Errorf("no dgemm model %q in the data", set)
	}
	return g, nil
}

// kernels returns the models of a machine whose dgemm is one of the sets.
func (d *dahu) kernels(set string, others otherKernels) (machineKernels, error) {
	g, err := d.gemm(set)
	if err != nil {
		return machineKernels{}, err
	}
	return g.kernels(others), nil
}

// kernels returns the models of a machine with such processors.
func (g *gemmModel) kernels(others otherKernels) machineKernels {
	return machineKernels{gemm: g.all, processors: g.processors, cpusPerHost: 2, others: others}
}

// dahuFlags are tracegen's of the runs on Dahu. HPL was built with
// -DHPL_NO_MPI_DATATYPE, which copies the panel as -DHPL_COPY_L does.
func dahuFlags(n, nb, p, q int, bcast string, depth int, swap string) string {
	return fmt.Sprintf("-N %d --NB %d -P %d -Q %d --PFACT crout --RFACT right --NBMIN 2 --NDIV 2 --BCAST %s --DEPTH %d --SWAP %s --swap-threshold %d --copy-l",
		n, nb, p, q, bcast, depth, swap, nb)
}
