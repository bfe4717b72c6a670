// Package slurm has Slurm start the workers of a study, and says what has become of them.
//
//	array := slurm.Array{Name: name, Workers: 20, Dir: dir, Worker: []string{"/usr/bin/study", "worker", dir,
//		"--until", "slurm"}}
//	job, err := slurm.Submit(ctx, array)        // one job array, a worker in each task
//	tasks, err := slurm.Tasks(ctx, name, dir)   // those that wait or run
//	err = slurm.Cancel(ctx, tasks)
//
// Workers take runs from the directory themselves, so a study of any size needs few tasks, at most [MaxTasks]: no limit
// on the size of arrays or on submitted jobs matters. A task that is preempted, or whose node fails, is queued again
// by Slurm, and goes on with what is left. Before its time is up a worker gets SIGTERM; [Left] tells it how long it may
// work until then, so that it begins nothing that would take longer.
//
// The package calls sbatch, squeue and scancel; nothing is linked in.
//
// # Units
//
// Memory is in bytes; limits of time are written as Slurm writes them.
//
// # Errors
//
// What Slurm says when it refuses, or cannot be reached, is part of the error. A [*NoCommandError] says that it is not
// installed here, an [*ArgumentError] that an option of sbatch is not for Submit, a [*QueueFullError] that the study
// has as many tasks as it may have.
//
// # Source
//
// Options and states are those of Slurm 22.05 and later (sbatch, squeue and scancel, their manual pages).
package slurm
