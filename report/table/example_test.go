package table_test

import (
	"log"
	"os"

	"reprise/replay"
	"reprise/report/table"
	"reprise/trace"
)

// A rank computes for a second and then waits for half of one.
func ExampleRecorder() {
	columns, err := table.ColumnsOf(&trace.Header{Ranks: 1})
	if err != nil {
		log.Fatal(err)
	}
	w := table.NewCSV(os.Stdout, columns.All, "")
	r := table.NewRecorder(columns, []string{"node-0"}, w)
	o := r.Observer()
	o.TimePasses(0, replay.TimeCompute, -1, 0, 1)
	o.TimePasses(0, replay.TimeWait, -1, 1, 1.5)
	r.End(false)
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// rank,host,step,complete,begin_s,end_s,messages,bytes,compute_s,sleep_s,send_s,recv_s,exchange_s,wait_s,collective_s,poll_s,overhead_s
	// 0,node-0,,true,0,1.5,0,0,1,0,0,0,0,0.5,0,0,0
}
