package kernels

// Quicker returns the set in which the kernel of a name is that many times as quick, on all
// hosts, as the set says: what-ifs ask so.
func (s *Set) Quicker(kernel string, factor float64) *Set {
	quick := s.clone()
	quick.quicker = append(quick.quicker, quickened{kernel, factor})
	return quick
}

// quickened is a kernel that is so many times as quick as the file says.
type quickened struct {
	kernel string
	factor float64
}

// quickness returns how many times as quick as the file says a kernel is.
func (s *Set) quickness(kernel string) float64 {
	factor := 1.0
	for _, q := range s.quicker {
		if q.kernel == kernel {
			factor *= q.factor
		}
	}
	return factor
}
