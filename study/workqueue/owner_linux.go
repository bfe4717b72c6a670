package workqueue

import (
	"os"
	"strconv"
	"strings"
)

// bootID names the machine since it was switched on, and the space in which its numbers of
// processes mean something; "" if that is not known.
func bootID() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + space
}

// startOf returns when a process was started, in clock ticks since the boot, and whether it
// runs: one that has ended and was not waited for does not.
func startOf(pid int) (started string, runs bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", false
	}
	_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	fields := strings.Fields(rest) // from the third field of proc(5) on
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return "", false
	}
	return fields[19], true
}
