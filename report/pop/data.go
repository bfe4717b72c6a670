package pop

// Data is POP's efficiencies of a run: shares of 1. Times are in seconds.
type Data struct {
	LoadBalance   float64 `json:"load_balance"`  // mean / greatest useful computation of a rank
	Serialisation float64 `json:"serialisation"` // greatest useful computation / Ideal
	Transfer      float64 `json:"transfer"`      // Ideal / Runtime = Wire * Contention
	Wire          float64 `json:"wire"`          // Ideal / Uncontended
	Contention    float64 `json:"contention"`    // Uncontended / Runtime
	Communication float64 `json:"communication"` // Serialisation * Transfer
	Parallel      float64 `json:"parallel"`      // LoadBalance * Communication

	Runtime     float64 `json:"runtime_s"`
	Uncontended float64 `json:"uncontended_s"` // runtime where no message slows another
	Ideal       float64 `json:"ideal_s"`       // runtime on a network that takes no time
	MeanUseful  float64 `json:"mean_useful_s"` // computation of a rank
	MostUseful  float64 `json:"most_useful_s"`

	Notes []string `json:"notes"` // what limits it, in sentences
}
