package record

import "reprise/report/typedarray"

// Data is the record of a replay, as a page draws it. Times are in seconds.
type Data struct {
	Columns Columns  `json:"columns"`
	States  []string `json:"states"` // of the matrix, the names of States
	Series  Series   `json:"series"`
	Matrix  Matrix   `json:"matrix"`
	// Communication is who sends how much to whom: by rank, and by row and column of the
	// process grid and by host where there are such.
	Communication []CommMatrix `json:"communication"`
	Links         Links        `json:"links"`
}

// Columns cut time: into steps of the trace, or where it marks none, equal slices of the run.
type Columns struct {
	Kind    string  `json:"kind"`             // "step" or "time"
	First   int     `json:"first"`            // step
	Steps   int     `json:"steps_per_column"` // 1, or more for runs of very many; 0 for slices of time
	Count   int     `json:"count"`            // of columns
	Seconds float64 `json:"seconds_s"`        // width of a slice of time; 0 for steps
	// Starts are float64 seconds, [Count+1]: when the mean rank begins each column, and the end.
	Starts typedarray.Bytes `json:"starts"`
	// Longest are float32 seconds, [Count]: the longest that a rank is in each column.
	Longest typedarray.Bytes `json:"longest"`
}

// Series are curves over the columns.
type Series struct {
	Kinds   []string `json:"kinds"`   // the names of the rows, first these,
	Kernels []string `json:"kernels"` // then these,
	Phases  []string `json:"phases"`  // then these: seconds within each phase
	// Values are float32 seconds of a rank within the column, [rows][mean, least, most][Count].
	Values typedarray.Bytes `json:"values"`
}

// Matrix is ranks by columns. A cell holds what share of a rank's time within the column goes
// to each state. Where there are too many cells, one stands for several ranks and columns.
type Matrix struct {
	Ranks          int `json:"ranks"` // of the run
	Rows           int `json:"rows"`
	Cols           int `json:"cols"`
	RanksPerRow    int `json:"ranks_per_row"`   // 1, or more for runs of very many ranks
	ColumnsPerCell int `json:"columns_per_col"` // of Columns
	// Steps is into how many steps shares and lengths are rounded: 255, or fewer (Round).
	Steps int `json:"share_steps"`
	// Mean and Most are uint8, [States][Cols][Rows]: the mean share, and the greatest of a
	// single rank and column in the cell; 255 is 1. Most is empty where a cell is one of each.
	Mean typedarray.Bytes `json:"mean"`
	Most typedarray.Bytes `json:"most"`
	// Length is uint8, [Cols][Rows]: the longest that a rank of the cell is in a column of it;
	// 255 is the longest of all ranks in these columns (of Columns.Longest).
	Length typedarray.Bytes `json:"length"`
	Orders []Order          `json:"orders"` // ways to sort the rows; the first is by rank
}

// Order is a way to sort the rows of a matrix.
type Order struct {
	Name string           `json:"name"` // "rank", "grid row", "grid column", "host", "end"
	Rows typedarray.Bytes `json:"rows"` // uint32, [Rows]: the row at each place; empty: as they are
}

// CommMatrix is who sends how much to whom, point to point.
type CommMatrix struct {
	By     string           `json:"by"`       // "rank", "grid row", "grid column", "host"
	Size   int              `json:"size"`     // rows and columns
	Per    int              `json:"per_cell"` // ranks, or hosts, that are one row
	Labels []string         `json:"labels"`   // of the rows; empty: numbers, Per apart
	Bytes  typedarray.Bytes `json:"bytes"`    // float32, [Size of senders][Size of receivers]
	Number typedarray.Bytes `json:"messages"` // float32, the same: messages
}

// Links is how the links are used over time, which is cut into equal slices.
type Links struct {
	Levels  []string `json:"levels"` // kinds of links, by the platform
	Number  []int    `json:"number"` // of links of each level that carry anything
	Slices  int      `json:"slices"`
	Seconds float64  `json:"seconds_s"` // of a slice
	// Shared says of each level whether its links are shared. Of those that are not (FATPIPE)
	// each message may have all, and uses may add up to more than 1.
	Shared []bool `json:"shared"`
	// Use is float32, [levels][mean, most][Slices]: the share of their capacity that links of
	// the level carry: of those that ever do, and the most used one in that slice.
	Use typedarray.Bytes `json:"use"`
	// Bound is float32 seconds, [levels][Slices]: time that messages lost because a link of
	// the level was shared, of all messages.
	Bound   typedarray.Bytes `json:"bound"`
	Hottest []HotLink        `json:"hottest"` // by time lost, at most 20
}

// HotLink is a link that messages wait for.
type HotLink struct {
	Name  string           `json:"name"`
	Level int              `json:"level"`
	Bytes float64          `json:"bytes"`  // carried
	Use   float64          `json:"use"`    // share of its capacity over the run
	Lost  float64          `json:"lost_s"` // seconds that messages lost because it was shared
	Over  typedarray.Bytes `json:"over"`   // float32, [Slices]: its use over time
}
