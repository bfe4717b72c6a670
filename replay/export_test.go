package replay

func init() { checkTimes = true }
