package wording

// Plain replaces what may not stand in the name of a host, or of a file that is called
// by it: all but letters, digits, points, _ and - becomes _, a point at the beginning too.
func Plain(s string) string {
	out := []byte(s)
	for i, c := range out {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '_' && (c != '.' || i == 0) {
			out[i] = '_'
		}
	}
	return string(out)
}
