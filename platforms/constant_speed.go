package platforms

// constant returns the value that a quantity has from the begin on, for good.
func (p *Profile) constant() (value float64, ok bool) {
	if len(p.points) != 1 || p.points[0].after != 0 || p.again >= 0 {
		return 0, false
	}
	return p.points[0].value, true
}

// ConstantSpeeds returns the profiles that are one factor of the speed of a host from the
// begin on. Host.Speed is that many times what the file says, and nothing changes with time.
func (p *Platform) ConstantSpeeds() []ProfileUse { return p.constantSpeeds }

// Factor returns the factor that a profile of ConstantSpeeds is.
func (u *ProfileUse) Factor() float64 { return u.Profile.points[0].value }

// applyConstantSpeeds makes profiles that are one positive factor the speeds of their hosts.
func (b *builder) applyConstantSpeeds() {
	kept := b.profiles[:0]
	for _, use := range b.profiles {
		factor, ok := use.Profile.constant()
		if use.Kind != HostSpeed || !ok || !(factor > 0) {
			kept = append(kept, use)
			continue
		}
		own := b.groups[b.hostGroups[use.Host]]
		own.speed *= factor
		b.groups = append(b.groups, own)
		b.hostGroups[use.Host] = int32(len(b.groups) - 1)
		b.constantSpeeds = append(b.constantSpeeds, use)
	}
	b.profiles = kept
}
