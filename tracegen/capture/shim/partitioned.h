// The wrappers of what readies partitions of a message, and asks for them. The requests are put
// down as those of completions are.

static int readies(int procedure, W request, int64_t partitions, int err)
{
	if (begin(procedure, err)) {
		struct request *r = take(handle_of(request));
		put(partitions);
		still(r);
	}
	return leave(err);
}

EXPORT int PMPI_Pready(W partition, W request)
{
	FIND(Pready)
	if (PASSES) {
		return real(partition, request);
	}
	enter();
	return readies(P_Pready, request, 1, real(partition, request));
}
BOTH(Pready)

EXPORT int PMPI_Pready_range(W low, W high, W request)
{
	FIND(Pready_range)
	if (PASSES) {
		return real(low, high, request);
	}
	enter();
	return readies(P_Pready_range, request, (int)high < (int)low ? 0 : (int64_t)(int)high - (int)low + 1, real(low, high, request));
}
BOTH(Pready_range)

EXPORT int PMPI_Pready_list(W length, W array, W request)
{
	FIND(Pready_list)
	if (PASSES) {
		return real(length, array, request);
	}
	enter();
	return readies(P_Pready_list, request, (int)length, real(length, array, request));
}
BOTH(Pready_list)

EXPORT int PMPI_Parrived(W request, W partition, W flag)
{
	FIND(Parrived)
	if (PASSES) {
		return real(request, partition, flag);
	}
	enter();
	int err = real(request, partition, flag);
	if (begin(P_Parrived, err)) {
		put(int_at(flag, 0) != 0);
		still(take(handle_of(request)));
	}
	return leave(err);
}
BOTH(Parrived)
