package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"reprise/calibrate/measure/hpl"
	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/regular"
)

func measureHPLCommand() *cli.Command {
	return &cli.Command{
		Name:      "hpl",
		Usage:     "time the kernels of your own HPL while it runs, for calibrate kernels",
		UsageText: "calibrate measure hpl [-o DIR]",
		Description: "Writes DIR/hpl-kernels.c and DIR/hpl-kernels.flags. Linked into an HPL that you build, they time its kernels where\n" +
			"they are called, long calls all and short ones by samples, for less than 2 % of the time; at the end each rank\n" +
			"writes a table (CSV) that calibrate kernels reads. With DIR = timing:\n\n" +
			"    calibrate measure hpl -o timing\n" +
			"    cc -O2 -c timing/hpl-kernels.c -o timing/hpl-kernels.o\n" +
			"    # in HPL's Make.<arch>: LINKFLAGS = $(CCFLAGS) /path/to/timing/hpl-kernels.o @/path/to/timing/hpl-kernels.flags\n" +
			"    REPRISE_KERNELS=timing/run mpirun -np 4 ./xhpl    # writes timing/run-0.csv to timing/run-3.csv\n" +
			"    calibrate kernels --for run.trace.zst -o kernels.yaml timing/run-*.csv\n\n" +
			"Without REPRISE_KERNELS the tables are hpl-kernels-RANK.csv in the directory of the run. dlocmax and dlocswp are not\n" +
			"timed: their sizes are in structures of HPL's own. Their models come from --base or measure kernels.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: ".", Usage: "write both files into `DIR`, which is made if it is missing"},
			&cli.BoolFlag{Name: "json", Usage: "print the paths as JSON", DisableDefaultText: true},
		},
		Action: runMeasureHPL,
	}
}

func runMeasureHPL(c *cli.Context) error {
	if c.NArg() > 0 {
		return command.Usagef("hpl: want flags only, found %q", c.Args().First())
	}
	dir := c.String("output")
	if dir == "" {
		return command.Usagef("hpl: --output needs a directory")
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	files := []struct {
		path    string
		content []byte
	}{{filepath.Join(dir, "hpl-kernels.c"), hpl.Source()}, {filepath.Join(dir, "hpl-kernels.flags"), hpl.Flags()}}
	for _, f := range files {
		if err := checkUnchanged(f.path, f.content); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := atomicfile.Write(f.path, func(w io.Writer) error {
			_, err := w.Write(f.content)
			return err
		}); err != nil {
			return err
		}
	}
	source, flags, object := files[0].path, files[1].path, filepath.Join(dir, "hpl-kernels.o")
	report := map[string]any{"source": source, "flags": flags, "functions": hpl.Functions()}
	return printReport(c, report, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s and %s are written. Next:\n"+
			"    cc -O2 -c %s -o %s\n"+
			"    link HPL with %s %s, as in LINKFLAGS of its Make.<arch>\n"+
			"    run it: each rank writes hpl-kernels-RANK.csv, for calibrate kernels\n",
			source, flags, command.Quoted(source), command.Quoted(object), command.Quoted(object), command.Quoted("@"+flags))
		return err
	})
}

// checkUnchanged refuses to overwrite a file that has another content, which somebody may have changed.
func checkUnchanged(path string, content []byte) error {
	old, err := regular.Read(path, maxMachineFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !bytes.Equal(old, content):
		return fmt.Errorf("%s has another content: it is not overwritten; remove it, or give another directory by --output", path)
	}
	return nil
}
