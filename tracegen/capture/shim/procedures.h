// Written by scripts/mpistandard from the standard's data (mpi-forum/pympistandard); do not change.

EXPORT int PMPI_Allgather(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm)
{
	FIND(Allgather)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
	if (begin(P_Allgather, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint32_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint32_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Allgather)

EXPORT int PMPI_Allgatherv(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcounts, W displs, W recvtype, W comm)
{
	FIND(Allgatherv)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
	if (begin(P_Allgatherv, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint32_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 0);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		put_span(recvcounts, displs, c->remote ? c->remote : c->size, 0);
	}
	return leave(err);
}
BOTH(Allgatherv)

EXPORT int PMPI_Allreduce(W sendbuf, W recvbuf, W count, W datatype, W op, W comm)
{
	FIND(Allreduce)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, comm);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, comm);
	if (begin(P_Allreduce, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((uint32_t)count);
		put(type_size(datatype));
		put_operator(op);
	}
	return leave(err);
}
BOTH(Allreduce)

EXPORT int PMPI_Alltoall(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm)
{
	FIND(Alltoall)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
	if (begin(P_Alltoall, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint32_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint32_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Alltoall)

EXPORT int PMPI_Alltoallv(W sendbuf, W sendcounts, W sdispls, W sendtype, W recvbuf, W recvcounts, W rdispls, W recvtype, W comm)
{
	FIND(Alltoallv)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
	if (begin(P_Alltoallv, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->remote ? c->remote : c->size, 0);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 0);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Alltoallv)

EXPORT int PMPI_Alltoallw(W sendbuf, W sendcounts, W sdispls, W sendtypes, W recvbuf, W recvcounts, W rdispls, W recvtypes, W comm)
{
	FIND(Alltoallw)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
	if (begin(P_Alltoallw, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->remote ? c->remote : c->size, 0);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 0);
		}
		if (sendbuf != abi.in_place) {
			put_sizes(sendtypes, c->remote ? c->remote : c->size);
		}
		if (recvbuf != abi.in_place) {
			put_sizes(recvtypes, c->remote ? c->remote : c->size);
		}
	}
	return leave(err);
}
BOTH(Alltoallw)

EXPORT int PMPI_Barrier(W comm)
{
	FIND(Barrier)
	if (PASSES) {
		return real(comm);
	}
	enter();
	int err = real(comm);
	if (begin(P_Barrier, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
	}
	return leave(err);
}
BOTH(Barrier)

EXPORT int PMPI_Bcast(W buffer, W count, W datatype, W root, W comm)
{
	FIND(Bcast)
	if (PASSES) {
		return real(buffer, count, datatype, root, comm);
	}
	enter();
	int err = real(buffer, count, datatype, root, comm);
	if (begin(P_Bcast, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		put((int)root == abi.proc_null ? 0 : (uint32_t)count);
		put((int)root == abi.proc_null ? 0 : type_size(datatype));
	}
	return leave(err);
}
BOTH(Bcast)

EXPORT int PMPI_Bsend(W buf, W count, W datatype, W dest, W tag, W comm)
{
	FIND(Bsend)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm);
	if (begin(P_Bsend, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint32_t)count);
		put(type_size(datatype));
	}
	return leave(err);
}
BOTH(Bsend)

EXPORT int PMPI_Cart_create(W comm_old, W ndims, W dims, W periods, W reorder, W comm_cart)
{
	FIND(Cart_create)
	if (PASSES) {
		return real(comm_old, ndims, dims, periods, reorder, comm_cart);
	}
	enter();
	int err = real(comm_old, ndims, dims, periods, reorder, comm_cart);
	if (begin(P_Cart_create, err)) {
		struct comm *c = comm_of(comm_old);
		put_comm(c);
		put_new(comm_cart, 0);
	}
	return leave(err);
}
BOTH(Cart_create)

EXPORT int PMPI_Cart_sub(W comm, W remain_dims, W newcomm)
{
	FIND(Cart_sub)
	if (PASSES) {
		return real(comm, remain_dims, newcomm);
	}
	enter();
	int err = real(comm, remain_dims, newcomm);
	if (begin(P_Cart_sub, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_new(newcomm, 0);
	}
	return leave(err);
}
BOTH(Cart_sub)

EXPORT int PMPI_Comm_create(W comm, W group, W newcomm)
{
	FIND(Comm_create)
	if (PASSES) {
		return real(comm, group, newcomm);
	}
	enter();
	int err = real(comm, group, newcomm);
	if (begin(P_Comm_create, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_new(newcomm, 0);
	}
	return leave(err);
}
BOTH(Comm_create)

EXPORT int PMPI_Comm_create_from_group(W group, W stringtag, W info_, W errhandler, W newcomm)
{
	FIND(Comm_create_from_group)
	if (PASSES) {
		return real(group, stringtag, info_, errhandler, newcomm);
	}
	enter();
	int err = real(group, stringtag, info_, errhandler, newcomm);
	if (begin(P_Comm_create_from_group, err)) {
		put_new(newcomm, 1);
	}
	return leave(err);
}
BOTH(Comm_create_from_group)

EXPORT int PMPI_Comm_create_group(W comm, W group, W tag, W newcomm)
{
	FIND(Comm_create_group)
	if (PASSES) {
		return real(comm, group, tag, newcomm);
	}
	enter();
	int err = real(comm, group, tag, newcomm);
	if (begin(P_Comm_create_group, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_tag(tag);
		put_new(newcomm, 1);
	}
	return leave(err);
}
BOTH(Comm_create_group)

EXPORT int PMPI_Comm_dup(W comm, W newcomm)
{
	FIND(Comm_dup)
	if (PASSES) {
		return real(comm, newcomm);
	}
	enter();
	int err = real(comm, newcomm);
	if (begin(P_Comm_dup, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_new(newcomm, 0);
	}
	return leave(err);
}
BOTH(Comm_dup)

EXPORT int PMPI_Comm_dup_with_info(W comm, W info_, W newcomm)
{
	FIND(Comm_dup_with_info)
	if (PASSES) {
		return real(comm, info_, newcomm);
	}
	enter();
	int err = real(comm, info_, newcomm);
	if (begin(P_Comm_dup_with_info, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_new(newcomm, 0);
	}
	return leave(err);
}
BOTH(Comm_dup_with_info)

EXPORT int PMPI_Comm_idup(W comm, W newcomm, W request)
{
	FIND(Comm_idup)
	if (PASSES) {
		return real(comm, newcomm, request);
	}
	enter();
	int err = real(comm, newcomm, request);
	if (begin(P_Comm_idup, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_copy(newcomm, c);
		new_request(request);
	}
	return leave(err);
}
BOTH(Comm_idup)

EXPORT int PMPI_Comm_idup_with_info(W comm, W info_, W newcomm, W request)
{
	FIND(Comm_idup_with_info)
	if (PASSES) {
		return real(comm, info_, newcomm, request);
	}
	enter();
	int err = real(comm, info_, newcomm, request);
	if (begin(P_Comm_idup_with_info, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_copy(newcomm, c);
		new_request(request);
	}
	return leave(err);
}
BOTH(Comm_idup_with_info)

EXPORT int PMPI_Comm_split(W comm, W color, W key, W newcomm)
{
	FIND(Comm_split)
	if (PASSES) {
		return real(comm, color, key, newcomm);
	}
	enter();
	int err = real(comm, color, key, newcomm);
	if (begin(P_Comm_split, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_new(newcomm, 0);
	}
	return leave(err);
}
BOTH(Comm_split)

EXPORT int PMPI_Comm_split_type(W comm, W split_type, W key, W info_, W newcomm)
{
	FIND(Comm_split_type)
	if (PASSES) {
		return real(comm, split_type, key, info_, newcomm);
	}
	enter();
	int err = real(comm, split_type, key, info_, newcomm);
	if (begin(P_Comm_split_type, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_new(newcomm, 0);
	}
	return leave(err);
}
BOTH(Comm_split_type)

EXPORT int PMPI_Dist_graph_create(W comm_old, W n, W sources, W degrees, W destinations, W weights, W info_, W reorder, W comm_dist_graph)
{
	FIND(Dist_graph_create)
	if (PASSES) {
		return real(comm_old, n, sources, degrees, destinations, weights, info_, reorder, comm_dist_graph);
	}
	enter();
	int err = real(comm_old, n, sources, degrees, destinations, weights, info_, reorder, comm_dist_graph);
	if (begin(P_Dist_graph_create, err)) {
		struct comm *c = comm_of(comm_old);
		put_comm(c);
		put_new(comm_dist_graph, 0);
	}
	return leave(err);
}
BOTH(Dist_graph_create)

EXPORT int PMPI_Dist_graph_create_adjacent(W comm_old, W indegree, W sources, W sourceweights, W outdegree, W destinations, W destweights, W info_, W reorder, W comm_dist_graph)
{
	FIND(Dist_graph_create_adjacent)
	if (PASSES) {
		return real(comm_old, indegree, sources, sourceweights, outdegree, destinations, destweights, info_, reorder, comm_dist_graph);
	}
	enter();
	int err = real(comm_old, indegree, sources, sourceweights, outdegree, destinations, destweights, info_, reorder, comm_dist_graph);
	if (begin(P_Dist_graph_create_adjacent, err)) {
		struct comm *c = comm_of(comm_old);
		put_comm(c);
		put_new(comm_dist_graph, 0);
	}
	return leave(err);
}
BOTH(Dist_graph_create_adjacent)

EXPORT int PMPI_Exscan(W sendbuf, W recvbuf, W count, W datatype, W op, W comm)
{
	FIND(Exscan)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, comm);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, comm);
	if (begin(P_Exscan, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((uint32_t)count);
		put(type_size(datatype));
		put_operator(op);
	}
	return leave(err);
}
BOTH(Exscan)

EXPORT int PMPI_Gather(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W root, W comm)
{
	FIND(Gather)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
	if (begin(P_Gather, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint32_t)sendcount);
		}
		if (mine && recvbuf != abi.in_place) {
			put((uint32_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(sendtype));
		}
		if (mine && recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Gather)

EXPORT int PMPI_Gatherv(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcounts, W displs, W recvtype, W root, W comm)
{
	FIND(Gatherv)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
	if (begin(P_Gatherv, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint32_t)sendcount);
		}
		if (mine && recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 0);
		}
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(sendtype));
		}
		if (mine && recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Gatherv)

EXPORT int PMPI_Graph_create(W comm_old, W nnodes, W index, W edges, W reorder, W comm_graph)
{
	FIND(Graph_create)
	if (PASSES) {
		return real(comm_old, nnodes, index, edges, reorder, comm_graph);
	}
	enter();
	int err = real(comm_old, nnodes, index, edges, reorder, comm_graph);
	if (begin(P_Graph_create, err)) {
		struct comm *c = comm_of(comm_old);
		put_comm(c);
		put_new(comm_graph, 0);
	}
	return leave(err);
}
BOTH(Graph_create)

EXPORT int PMPI_Iallgather(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm, W request)
{
	FIND(Iallgather)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
	if (begin(P_Iallgather, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint32_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint32_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Iallgather)

EXPORT int PMPI_Iallgatherv(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcounts, W displs, W recvtype, W comm, W request)
{
	FIND(Iallgatherv)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request);
	if (begin(P_Iallgatherv, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint32_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 0);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		put_span(recvcounts, displs, c->remote ? c->remote : c->size, 0);
		new_request(request);
	}
	return leave(err);
}
BOTH(Iallgatherv)

EXPORT int PMPI_Iallreduce(W sendbuf, W recvbuf, W count, W datatype, W op, W comm, W request)
{
	FIND(Iallreduce)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, comm, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, comm, request);
	if (begin(P_Iallreduce, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((uint32_t)count);
		put(type_size(datatype));
		put_operator(op);
		new_request(request);
	}
	return leave(err);
}
BOTH(Iallreduce)

EXPORT int PMPI_Ialltoall(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm, W request)
{
	FIND(Ialltoall)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
	if (begin(P_Ialltoall, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint32_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint32_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Ialltoall)

EXPORT int PMPI_Ialltoallv(W sendbuf, W sendcounts, W sdispls, W sendtype, W recvbuf, W recvcounts, W rdispls, W recvtype, W comm, W request)
{
	FIND(Ialltoallv)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request);
	if (begin(P_Ialltoallv, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->remote ? c->remote : c->size, 0);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 0);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Ialltoallv)

EXPORT int PMPI_Ialltoallw(W sendbuf, W sendcounts, W sdispls, W sendtypes, W recvbuf, W recvcounts, W rdispls, W recvtypes, W comm, W request)
{
	FIND(Ialltoallw)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request);
	if (begin(P_Ialltoallw, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->remote ? c->remote : c->size, 0);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 0);
		}
		if (sendbuf != abi.in_place) {
			put_sizes(sendtypes, c->remote ? c->remote : c->size);
		}
		if (recvbuf != abi.in_place) {
			put_sizes(recvtypes, c->remote ? c->remote : c->size);
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Ialltoallw)

EXPORT int PMPI_Ibarrier(W comm, W request)
{
	FIND(Ibarrier)
	if (PASSES) {
		return real(comm, request);
	}
	enter();
	int err = real(comm, request);
	if (begin(P_Ibarrier, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		new_request(request);
	}
	return leave(err);
}
BOTH(Ibarrier)

EXPORT int PMPI_Ibcast(W buffer, W count, W datatype, W root, W comm, W request)
{
	FIND(Ibcast)
	if (PASSES) {
		return real(buffer, count, datatype, root, comm, request);
	}
	enter();
	int err = real(buffer, count, datatype, root, comm, request);
	if (begin(P_Ibcast, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		put((int)root == abi.proc_null ? 0 : (uint32_t)count);
		put((int)root == abi.proc_null ? 0 : type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(Ibcast)

EXPORT int PMPI_Ibsend(W buf, W count, W datatype, W dest, W tag, W comm, W request)
{
	FIND(Ibsend)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm, request);
	if (begin(P_Ibsend, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint32_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(Ibsend)

EXPORT int PMPI_Iexscan(W sendbuf, W recvbuf, W count, W datatype, W op, W comm, W request)
{
	FIND(Iexscan)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, comm, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, comm, request);
	if (begin(P_Iexscan, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((uint32_t)count);
		put(type_size(datatype));
		put_operator(op);
		new_request(request);
	}
	return leave(err);
}
BOTH(Iexscan)

EXPORT int PMPI_Igather(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W root, W comm, W request)
{
	FIND(Igather)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
	if (begin(P_Igather, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint32_t)sendcount);
		}
		if (mine && recvbuf != abi.in_place) {
			put((uint32_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(sendtype));
		}
		if (mine && recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Igather)

EXPORT int PMPI_Igatherv(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcounts, W displs, W recvtype, W root, W comm, W request)
{
	FIND(Igatherv)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, request);
	if (begin(P_Igatherv, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint32_t)sendcount);
		}
		if (mine && recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 0);
		}
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(sendtype));
		}
		if (mine && recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Igatherv)

EXPORT int PMPI_Improbe(W source, W tag, W comm, W flag, W message, W status)
{
	FIND(Improbe)
	if (PASSES) {
		return real(source, tag, comm, flag, message, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(source, tag, comm, flag, message, status);
	if (begin(P_Improbe, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(source);
		put_tag(tag);
		put(int_at(flag, 0) != 0);
		if (int_at(flag, 0)) {
			put_rank(status_source((char *)status));
			put_tag(status_tag((char *)status));
			add_message(message, c, (char *)status);
		}
	}
	return leave(err);
}
BOTH(Improbe)

EXPORT int PMPI_Imrecv(W buf, W count, W datatype, W message, W request)
{
	FIND(Imrecv)
	if (PASSES) {
		return real(buf, count, datatype, message, request);
	}
	enter();
	lock();
	struct message m = take_message(message ? handle_at(message, 0) : abi.message_no_proc);
	unlock();
	int err = real(buf, count, datatype, message, request);
	if (begin(P_Imrecv, err)) {
		put_message(&m);
		put((uint32_t)count);
		put(type_size(datatype));
		receives(new_request(request), (int64_t)(uint32_t)count * type_size(datatype), m.source, m.tag);
	}
	return leave(err);
}
BOTH(Imrecv)

EXPORT int PMPI_Ineighbor_allgather(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm, W request)
{
	FIND(Ineighbor_allgather)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
	if (begin(P_Ineighbor_allgather, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint32_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint32_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Ineighbor_allgather)

EXPORT int PMPI_Ineighbor_allgatherv(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcounts, W displs, W recvtype, W comm, W request)
{
	FIND(Ineighbor_allgatherv)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request);
	if (begin(P_Ineighbor_allgatherv, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint32_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->sources, 0);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Ineighbor_allgatherv)

EXPORT int PMPI_Ineighbor_alltoall(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm, W request)
{
	FIND(Ineighbor_alltoall)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
	if (begin(P_Ineighbor_alltoall, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint32_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint32_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Ineighbor_alltoall)

EXPORT int PMPI_Ineighbor_alltoallv(W sendbuf, W sendcounts, W sdispls, W sendtype, W recvbuf, W recvcounts, W rdispls, W recvtype, W comm, W request)
{
	FIND(Ineighbor_alltoallv)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request);
	if (begin(P_Ineighbor_alltoallv, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->destinations, 0);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->sources, 0);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Ineighbor_alltoallv)

EXPORT int PMPI_Ineighbor_alltoallw(W sendbuf, W sendcounts, W sdispls, W sendtypes, W recvbuf, W recvcounts, W rdispls, W recvtypes, W comm, W request)
{
	FIND(Ineighbor_alltoallw)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request);
	if (begin(P_Ineighbor_alltoallw, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->destinations, 0);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->sources, 0);
		}
		if (sendbuf != abi.in_place) {
			put_sizes(sendtypes, c->destinations);
		}
		if (recvbuf != abi.in_place) {
			put_sizes(recvtypes, c->sources);
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Ineighbor_alltoallw)

EXPORT int PMPI_Intercomm_create(W local_comm, W local_leader, W peer_comm, W remote_leader, W tag, W newintercomm)
{
	FIND(Intercomm_create)
	if (PASSES) {
		return real(local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm);
	}
	enter();
	int err = real(local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm);
	if (begin(P_Intercomm_create, err)) {
		struct comm *c = comm_of(local_comm);
		put_comm(c);
		put_tag(tag);
		put_new(newintercomm, 0);
	}
	return leave(err);
}
BOTH(Intercomm_create)

EXPORT int PMPI_Intercomm_create_from_groups(W local_group, W local_leader, W remote_group, W remote_leader, W stringtag, W info_, W errhandler, W newintercomm)
{
	FIND(Intercomm_create_from_groups)
	if (PASSES) {
		return real(local_group, local_leader, remote_group, remote_leader, stringtag, info_, errhandler, newintercomm);
	}
	enter();
	int err = real(local_group, local_leader, remote_group, remote_leader, stringtag, info_, errhandler, newintercomm);
	if (begin(P_Intercomm_create_from_groups, err)) {
		put_new(newintercomm, 0);
	}
	return leave(err);
}
BOTH(Intercomm_create_from_groups)

EXPORT int PMPI_Intercomm_merge(W intercomm, W high, W newintracomm)
{
	FIND(Intercomm_merge)
	if (PASSES) {
		return real(intercomm, high, newintracomm);
	}
	enter();
	int err = real(intercomm, high, newintracomm);
	if (begin(P_Intercomm_merge, err)) {
		struct comm *c = comm_of(intercomm);
		put_comm(c);
		put_new(newintracomm, 0);
	}
	return leave(err);
}
BOTH(Intercomm_merge)

EXPORT int PMPI_Iprobe(W source, W tag, W comm, W flag, W status)
{
	FIND(Iprobe)
	if (PASSES) {
		return real(source, tag, comm, flag, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(source, tag, comm, flag, status);
	if (begin(P_Iprobe, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(source);
		put_tag(tag);
		put(int_at(flag, 0) != 0);
		if (int_at(flag, 0)) {
			put_rank(status_source((char *)status));
			put_tag(status_tag((char *)status));
		}
	}
	return leave(err);
}
BOTH(Iprobe)

EXPORT int PMPI_Irecv(W buf, W count, W datatype, W source, W tag, W comm, W request)
{
	FIND(Irecv)
	if (PASSES) {
		return real(buf, count, datatype, source, tag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, source, tag, comm, request);
	if (begin(P_Irecv, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(source);
		put_tag(tag);
		put((uint32_t)count);
		put(type_size(datatype));
		receives(new_request(request), (int64_t)(uint32_t)count * type_size(datatype), source, tag);
	}
	return leave(err);
}
BOTH(Irecv)

EXPORT int PMPI_Ireduce(W sendbuf, W recvbuf, W count, W datatype, W op, W root, W comm, W request)
{
	FIND(Ireduce)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, root, comm, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, root, comm, request);
	if (begin(P_Ireduce, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((int)root == abi.proc_null ? 0 : (uint32_t)count);
		put((int)root == abi.proc_null ? 0 : type_size(datatype));
		put_operator(op);
		new_request(request);
	}
	return leave(err);
}
BOTH(Ireduce)

EXPORT int PMPI_Ireduce_scatter(W sendbuf, W recvbuf, W recvcounts, W datatype, W op, W comm, W request)
{
	FIND(Ireduce_scatter)
	if (PASSES) {
		return real(sendbuf, recvbuf, recvcounts, datatype, op, comm, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, recvcounts, datatype, op, comm, request);
	if (begin(P_Ireduce_scatter, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->size, 0);
		}
		put(type_size(datatype));
		put_operator(op);
		new_request(request);
	}
	return leave(err);
}
BOTH(Ireduce_scatter)

EXPORT int PMPI_Ireduce_scatter_block(W sendbuf, W recvbuf, W recvcount, W datatype, W op, W comm, W request)
{
	FIND(Ireduce_scatter_block)
	if (PASSES) {
		return real(sendbuf, recvbuf, recvcount, datatype, op, comm, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, recvcount, datatype, op, comm, request);
	if (begin(P_Ireduce_scatter_block, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (recvbuf != abi.in_place) {
			put((uint32_t)recvcount);
		}
		put(type_size(datatype));
		put_operator(op);
		new_request(request);
	}
	return leave(err);
}
BOTH(Ireduce_scatter_block)

EXPORT int PMPI_Irsend(W buf, W count, W datatype, W dest, W tag, W comm, W request)
{
	FIND(Irsend)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm, request);
	if (begin(P_Irsend, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint32_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(Irsend)

EXPORT int PMPI_Iscan(W sendbuf, W recvbuf, W count, W datatype, W op, W comm, W request)
{
	FIND(Iscan)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, comm, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, comm, request);
	if (begin(P_Iscan, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((uint32_t)count);
		put(type_size(datatype));
		put_operator(op);
		new_request(request);
	}
	return leave(err);
}
BOTH(Iscan)

EXPORT int PMPI_Iscatter(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W root, W comm, W request)
{
	FIND(Iscatter)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
	if (begin(P_Iscatter, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		if (mine) {
			put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		}
		if (mine && sendbuf != abi.in_place) {
			put((uint32_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint32_t)recvcount);
		}
		if (mine && sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Iscatter)

EXPORT int PMPI_Iscatterv(W sendbuf, W sendcounts, W displs, W sendtype, W recvbuf, W recvcount, W recvtype, W root, W comm, W request)
{
	FIND(Iscatterv)
	if (PASSES) {
		return real(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
	if (begin(P_Iscatterv, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		if (mine) {
			put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint32_t)recvcount);
		}
		if (mine && sendbuf != abi.in_place) {
			put_counts(sendcounts, c->remote ? c->remote : c->size, 0);
		}
		if (mine && sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Iscatterv)

EXPORT int PMPI_Isend(W buf, W count, W datatype, W dest, W tag, W comm, W request)
{
	FIND(Isend)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm, request);
	if (begin(P_Isend, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint32_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(Isend)

EXPORT int PMPI_Isendrecv(W sendbuf, W sendcount, W sendtype, W dest, W sendtag, W recvbuf, W recvcount, W recvtype, W source, W recvtag, W comm, W request)
{
	FIND(Isendrecv)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, request);
	if (begin(P_Isendrecv, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_rank(source);
		put_tag(sendtag);
		put_tag(recvtag);
		put((uint32_t)sendcount);
		put((uint32_t)recvcount);
		put(type_size(sendtype));
		put(type_size(recvtype));
		receives(new_request(request), (int64_t)(uint32_t)recvcount * type_size(recvtype), source, recvtag);
	}
	return leave(err);
}
BOTH(Isendrecv)

EXPORT int PMPI_Isendrecv_replace(W buf, W count, W datatype, W dest, W sendtag, W source, W recvtag, W comm, W request)
{
	FIND(Isendrecv_replace)
	if (PASSES) {
		return real(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
	if (begin(P_Isendrecv_replace, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_rank(source);
		put_tag(sendtag);
		put_tag(recvtag);
		put((uint32_t)count);
		put(type_size(datatype));
		receives(new_request(request), (int64_t)(uint32_t)count * type_size(datatype), source, recvtag);
	}
	return leave(err);
}
BOTH(Isendrecv_replace)

EXPORT int PMPI_Issend(W buf, W count, W datatype, W dest, W tag, W comm, W request)
{
	FIND(Issend)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm, request);
	if (begin(P_Issend, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint32_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(Issend)

EXPORT int PMPI_Mprobe(W source, W tag, W comm, W message, W status)
{
	FIND(Mprobe)
	if (PASSES) {
		return real(source, tag, comm, message, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(source, tag, comm, message, status);
	if (begin(P_Mprobe, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(source);
		put_tag(tag);
		put_rank(status_source((char *)status));
		put_tag(status_tag((char *)status));
		add_message(message, c, (char *)status);
	}
	return leave(err);
}
BOTH(Mprobe)

EXPORT int PMPI_Mrecv(W buf, W count, W datatype, W message, W status)
{
	FIND(Mrecv)
	if (PASSES) {
		return real(buf, count, datatype, message, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	lock();
	struct message m = take_message(message ? handle_at(message, 0) : abi.message_no_proc);
	unlock();
	int err = real(buf, count, datatype, message, status);
	if (begin(P_Mrecv, err)) {
		put_message(&m);
		put((uint32_t)count);
		put(type_size(datatype));
		put_status((char *)status, 0, (int64_t)(uint32_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(Mrecv)

EXPORT int PMPI_Neighbor_allgather(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm)
{
	FIND(Neighbor_allgather)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
	if (begin(P_Neighbor_allgather, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint32_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint32_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Neighbor_allgather)

EXPORT int PMPI_Neighbor_allgatherv(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcounts, W displs, W recvtype, W comm)
{
	FIND(Neighbor_allgatherv)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
	if (begin(P_Neighbor_allgatherv, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint32_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->sources, 0);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Neighbor_allgatherv)

EXPORT int PMPI_Neighbor_alltoall(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm)
{
	FIND(Neighbor_alltoall)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
	if (begin(P_Neighbor_alltoall, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint32_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint32_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Neighbor_alltoall)

EXPORT int PMPI_Neighbor_alltoallv(W sendbuf, W sendcounts, W sdispls, W sendtype, W recvbuf, W recvcounts, W rdispls, W recvtype, W comm)
{
	FIND(Neighbor_alltoallv)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
	if (begin(P_Neighbor_alltoallv, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->destinations, 0);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->sources, 0);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Neighbor_alltoallv)

EXPORT int PMPI_Neighbor_alltoallw(W sendbuf, W sendcounts, W sdispls, W sendtypes, W recvbuf, W recvcounts, W rdispls, W recvtypes, W comm)
{
	FIND(Neighbor_alltoallw)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
	if (begin(P_Neighbor_alltoallw, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->destinations, 0);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->sources, 0);
		}
		if (sendbuf != abi.in_place) {
			put_sizes(sendtypes, c->destinations);
		}
		if (recvbuf != abi.in_place) {
			put_sizes(recvtypes, c->sources);
		}
	}
	return leave(err);
}
BOTH(Neighbor_alltoallw)

EXPORT int PMPI_Recv(W buf, W count, W datatype, W source, W tag, W comm, W status)
{
	FIND(Recv)
	if (PASSES) {
		return real(buf, count, datatype, source, tag, comm, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(buf, count, datatype, source, tag, comm, status);
	if (begin(P_Recv, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(source);
		put_tag(tag);
		put((uint32_t)count);
		put(type_size(datatype));
		put_status((char *)status, (int)source == abi.any_source || (int)tag == abi.any_tag, (int64_t)(uint32_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(Recv)

EXPORT int PMPI_Reduce(W sendbuf, W recvbuf, W count, W datatype, W op, W root, W comm)
{
	FIND(Reduce)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, root, comm);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, root, comm);
	if (begin(P_Reduce, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((int)root == abi.proc_null ? 0 : (uint32_t)count);
		put((int)root == abi.proc_null ? 0 : type_size(datatype));
		put_operator(op);
	}
	return leave(err);
}
BOTH(Reduce)

EXPORT int PMPI_Reduce_scatter(W sendbuf, W recvbuf, W recvcounts, W datatype, W op, W comm)
{
	FIND(Reduce_scatter)
	if (PASSES) {
		return real(sendbuf, recvbuf, recvcounts, datatype, op, comm);
	}
	enter();
	int err = real(sendbuf, recvbuf, recvcounts, datatype, op, comm);
	if (begin(P_Reduce_scatter, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->size, 0);
		}
		put(type_size(datatype));
		put_operator(op);
	}
	return leave(err);
}
BOTH(Reduce_scatter)

EXPORT int PMPI_Reduce_scatter_block(W sendbuf, W recvbuf, W recvcount, W datatype, W op, W comm)
{
	FIND(Reduce_scatter_block)
	if (PASSES) {
		return real(sendbuf, recvbuf, recvcount, datatype, op, comm);
	}
	enter();
	int err = real(sendbuf, recvbuf, recvcount, datatype, op, comm);
	if (begin(P_Reduce_scatter_block, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (recvbuf != abi.in_place) {
			put((uint32_t)recvcount);
		}
		put(type_size(datatype));
		put_operator(op);
	}
	return leave(err);
}
BOTH(Reduce_scatter_block)

EXPORT int PMPI_Rsend(W buf, W count, W datatype, W dest, W tag, W comm)
{
	FIND(Rsend)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm);
	if (begin(P_Rsend, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint32_t)count);
		put(type_size(datatype));
	}
	return leave(err);
}
BOTH(Rsend)

EXPORT int PMPI_Scan(W sendbuf, W recvbuf, W count, W datatype, W op, W comm)
{
	FIND(Scan)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, comm);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, comm);
	if (begin(P_Scan, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((uint32_t)count);
		put(type_size(datatype));
		put_operator(op);
	}
	return leave(err);
}
BOTH(Scan)

EXPORT int PMPI_Scatter(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W root, W comm)
{
	FIND(Scatter)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
	if (begin(P_Scatter, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		if (mine) {
			put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		}
		if (mine && sendbuf != abi.in_place) {
			put((uint32_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint32_t)recvcount);
		}
		if (mine && sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Scatter)

EXPORT int PMPI_Scatterv(W sendbuf, W sendcounts, W displs, W sendtype, W recvbuf, W recvcount, W recvtype, W root, W comm)
{
	FIND(Scatterv)
	if (PASSES) {
		return real(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
	}
	enter();
	int err = real(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
	if (begin(P_Scatterv, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		if (mine) {
			put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint32_t)recvcount);
		}
		if (mine && sendbuf != abi.in_place) {
			put_counts(sendcounts, c->remote ? c->remote : c->size, 0);
		}
		if (mine && sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Scatterv)

EXPORT int PMPI_Send(W buf, W count, W datatype, W dest, W tag, W comm)
{
	FIND(Send)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm);
	if (begin(P_Send, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint32_t)count);
		put(type_size(datatype));
	}
	return leave(err);
}
BOTH(Send)

EXPORT int PMPI_Sendrecv(W sendbuf, W sendcount, W sendtype, W dest, W sendtag, W recvbuf, W recvcount, W recvtype, W source, W recvtag, W comm, W status)
{
	FIND(Sendrecv)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status);
	if (begin(P_Sendrecv, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_rank(source);
		put_tag(sendtag);
		put_tag(recvtag);
		put((uint32_t)sendcount);
		put((uint32_t)recvcount);
		put(type_size(sendtype));
		put(type_size(recvtype));
		put_status((char *)status, (int)source == abi.any_source || (int)recvtag == abi.any_tag, (int64_t)(uint32_t)recvcount * type_size(recvtype));
	}
	return leave(err);
}
BOTH(Sendrecv)

EXPORT int PMPI_Sendrecv_replace(W buf, W count, W datatype, W dest, W sendtag, W source, W recvtag, W comm, W status)
{
	FIND(Sendrecv_replace)
	if (PASSES) {
		return real(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
	if (begin(P_Sendrecv_replace, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_rank(source);
		put_tag(sendtag);
		put_tag(recvtag);
		put((uint32_t)count);
		put(type_size(datatype));
		put_status((char *)status, (int)source == abi.any_source || (int)recvtag == abi.any_tag, (int64_t)(uint32_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(Sendrecv_replace)

EXPORT int PMPI_Ssend(W buf, W count, W datatype, W dest, W tag, W comm)
{
	FIND(Ssend)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm);
	if (begin(P_Ssend, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint32_t)count);
		put(type_size(datatype));
	}
	return leave(err);
}
BOTH(Ssend)

EXPORT int PMPI_Accumulate(W origin_addr, W origin_count, W origin_datatype, W target_rank, W target_disp, W target_count, W target_datatype, W op, W win)
{
	FIND(Accumulate)
	if (PASSES) {
		return real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win);
	}
	enter();
	int err = real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win);
	if (begin(P_Accumulate, err)) {
		put_window(win);
		put_rank(target_rank);
		put((uint32_t)origin_count);
		put(type_size(origin_datatype));
		put(handle_of(op) == abi.no_op);
	}
	return leave(err);
}
BOTH(Accumulate)

EXPORT int PMPI_Accumulate_c(W origin_addr, W origin_count, W origin_datatype, W target_rank, W target_disp, W target_count, W target_datatype, W op, W win)
{
	FIND(Accumulate_c)
	if (PASSES) {
		return real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win);
	}
	enter();
	int err = real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win);
	if (begin(P_Accumulate_c, err)) {
		put_window(win);
		put_rank(target_rank);
		put((uint64_t)origin_count);
		put(type_size(origin_datatype));
		put(handle_of(op) == abi.no_op);
	}
	return leave(err);
}
BOTH(Accumulate_c)

EXPORT int PMPI_Allgather_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm)
{
	FIND(Allgather_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
	if (begin(P_Allgather_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint64_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint64_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Allgather_c)

EXPORT int PMPI_Allgather_init(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm, W info_, W request)
{
	FIND(Allgather_init)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info_, request);
	if (begin(P_Allgather_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint32_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint32_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Allgather_init)

EXPORT int PMPI_Allgather_init_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm, W info_, W request)
{
	FIND(Allgather_init_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info_, request);
	if (begin(P_Allgather_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint64_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint64_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Allgather_init_c)

EXPORT int PMPI_Allgatherv_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcounts, W displs, W recvtype, W comm)
{
	FIND(Allgatherv_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
	if (begin(P_Allgatherv_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint64_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 1);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		put_span(recvcounts, displs, c->remote ? c->remote : c->size, 1);
	}
	return leave(err);
}
BOTH(Allgatherv_c)

EXPORT int PMPI_Allgatherv_init(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcounts, W displs, W recvtype, W comm, W info_, W request)
{
	FIND(Allgatherv_init)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info_, request);
	if (begin(P_Allgatherv_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint32_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 0);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		put_span(recvcounts, displs, c->remote ? c->remote : c->size, 0);
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Allgatherv_init)

EXPORT int PMPI_Allgatherv_init_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcounts, W displs, W recvtype, W comm, W info_, W request)
{
	FIND(Allgatherv_init_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info_, request);
	if (begin(P_Allgatherv_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint64_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 1);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		put_span(recvcounts, displs, c->remote ? c->remote : c->size, 1);
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Allgatherv_init_c)

EXPORT int PMPI_Allreduce_c(W sendbuf, W recvbuf, W count, W datatype, W op, W comm)
{
	FIND(Allreduce_c)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, comm);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, comm);
	if (begin(P_Allreduce_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((uint64_t)count);
		put(type_size(datatype));
		put_operator(op);
	}
	return leave(err);
}
BOTH(Allreduce_c)

EXPORT int PMPI_Allreduce_init(W sendbuf, W recvbuf, W count, W datatype, W op, W comm, W info_, W request)
{
	FIND(Allreduce_init)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, comm, info_, request);
	if (begin(P_Allreduce_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((uint32_t)count);
		put(type_size(datatype));
		put_operator(op);
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Allreduce_init)

EXPORT int PMPI_Allreduce_init_c(W sendbuf, W recvbuf, W count, W datatype, W op, W comm, W info_, W request)
{
	FIND(Allreduce_init_c)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, comm, info_, request);
	if (begin(P_Allreduce_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((uint64_t)count);
		put(type_size(datatype));
		put_operator(op);
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Allreduce_init_c)

EXPORT int PMPI_Alltoall_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm)
{
	FIND(Alltoall_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
	if (begin(P_Alltoall_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint64_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint64_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Alltoall_c)

EXPORT int PMPI_Alltoall_init(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm, W info_, W request)
{
	FIND(Alltoall_init)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info_, request);
	if (begin(P_Alltoall_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint32_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint32_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Alltoall_init)

EXPORT int PMPI_Alltoall_init_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm, W info_, W request)
{
	FIND(Alltoall_init_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info_, request);
	if (begin(P_Alltoall_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint64_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint64_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Alltoall_init_c)

EXPORT int PMPI_Alltoallv_c(W sendbuf, W sendcounts, W sdispls, W sendtype, W recvbuf, W recvcounts, W rdispls, W recvtype, W comm)
{
	FIND(Alltoallv_c)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
	if (begin(P_Alltoallv_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->remote ? c->remote : c->size, 1);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 1);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Alltoallv_c)

EXPORT int PMPI_Alltoallv_init(W sendbuf, W sendcounts, W sdispls, W sendtype, W recvbuf, W recvcounts, W rdispls, W recvtype, W comm, W info_, W request)
{
	FIND(Alltoallv_init)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info_, request);
	if (begin(P_Alltoallv_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->remote ? c->remote : c->size, 0);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 0);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Alltoallv_init)

EXPORT int PMPI_Alltoallv_init_c(W sendbuf, W sendcounts, W sdispls, W sendtype, W recvbuf, W recvcounts, W rdispls, W recvtype, W comm, W info_, W request)
{
	FIND(Alltoallv_init_c)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info_, request);
	if (begin(P_Alltoallv_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->remote ? c->remote : c->size, 1);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 1);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Alltoallv_init_c)

EXPORT int PMPI_Alltoallw_c(W sendbuf, W sendcounts, W sdispls, W sendtypes, W recvbuf, W recvcounts, W rdispls, W recvtypes, W comm)
{
	FIND(Alltoallw_c)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
	if (begin(P_Alltoallw_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->remote ? c->remote : c->size, 1);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 1);
		}
		if (sendbuf != abi.in_place) {
			put_sizes(sendtypes, c->remote ? c->remote : c->size);
		}
		if (recvbuf != abi.in_place) {
			put_sizes(recvtypes, c->remote ? c->remote : c->size);
		}
	}
	return leave(err);
}
BOTH(Alltoallw_c)

EXPORT int PMPI_Alltoallw_init(W sendbuf, W sendcounts, W sdispls, W sendtypes, W recvbuf, W recvcounts, W rdispls, W recvtypes, W comm, W info_, W request)
{
	FIND(Alltoallw_init)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info_, request);
	if (begin(P_Alltoallw_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->remote ? c->remote : c->size, 0);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 0);
		}
		if (sendbuf != abi.in_place) {
			put_sizes(sendtypes, c->remote ? c->remote : c->size);
		}
		if (recvbuf != abi.in_place) {
			put_sizes(recvtypes, c->remote ? c->remote : c->size);
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Alltoallw_init)

EXPORT int PMPI_Alltoallw_init_c(W sendbuf, W sendcounts, W sdispls, W sendtypes, W recvbuf, W recvcounts, W rdispls, W recvtypes, W comm, W info_, W request)
{
	FIND(Alltoallw_init_c)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info_, request);
	if (begin(P_Alltoallw_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->remote ? c->remote : c->size, 1);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 1);
		}
		if (sendbuf != abi.in_place) {
			put_sizes(sendtypes, c->remote ? c->remote : c->size);
		}
		if (recvbuf != abi.in_place) {
			put_sizes(recvtypes, c->remote ? c->remote : c->size);
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Alltoallw_init_c)

EXPORT int PMPI_Barrier_init(W comm, W info_, W request)
{
	FIND(Barrier_init)
	if (PASSES) {
		return real(comm, info_, request);
	}
	enter();
	int err = real(comm, info_, request);
	if (begin(P_Barrier_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Barrier_init)

EXPORT int PMPI_Bcast_c(W buffer, W count, W datatype, W root, W comm)
{
	FIND(Bcast_c)
	if (PASSES) {
		return real(buffer, count, datatype, root, comm);
	}
	enter();
	int err = real(buffer, count, datatype, root, comm);
	if (begin(P_Bcast_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		put((int)root == abi.proc_null ? 0 : (uint64_t)count);
		put((int)root == abi.proc_null ? 0 : type_size(datatype));
	}
	return leave(err);
}
BOTH(Bcast_c)

EXPORT int PMPI_Bcast_init(W buffer, W count, W datatype, W root, W comm, W info_, W request)
{
	FIND(Bcast_init)
	if (PASSES) {
		return real(buffer, count, datatype, root, comm, info_, request);
	}
	enter();
	int err = real(buffer, count, datatype, root, comm, info_, request);
	if (begin(P_Bcast_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		put((int)root == abi.proc_null ? 0 : (uint32_t)count);
		put((int)root == abi.proc_null ? 0 : type_size(datatype));
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Bcast_init)

EXPORT int PMPI_Bcast_init_c(W buffer, W count, W datatype, W root, W comm, W info_, W request)
{
	FIND(Bcast_init_c)
	if (PASSES) {
		return real(buffer, count, datatype, root, comm, info_, request);
	}
	enter();
	int err = real(buffer, count, datatype, root, comm, info_, request);
	if (begin(P_Bcast_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		put((int)root == abi.proc_null ? 0 : (uint64_t)count);
		put((int)root == abi.proc_null ? 0 : type_size(datatype));
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Bcast_init_c)

EXPORT int PMPI_Bsend_c(W buf, W count, W datatype, W dest, W tag, W comm)
{
	FIND(Bsend_c)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm);
	if (begin(P_Bsend_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint64_t)count);
		put(type_size(datatype));
	}
	return leave(err);
}
BOTH(Bsend_c)

EXPORT int PMPI_Bsend_init(W buf, W count, W datatype, W dest, W tag, W comm, W request)
{
	FIND(Bsend_init)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm, request);
	if (begin(P_Bsend_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint32_t)count);
		put(type_size(datatype));
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Bsend_init)

EXPORT int PMPI_Bsend_init_c(W buf, W count, W datatype, W dest, W tag, W comm, W request)
{
	FIND(Bsend_init_c)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm, request);
	if (begin(P_Bsend_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint64_t)count);
		put(type_size(datatype));
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Bsend_init_c)

EXPORT int PMPI_Compare_and_swap(W origin_addr, W compare_addr, W result_addr, W datatype, W target_rank, W target_disp, W win)
{
	FIND(Compare_and_swap)
	if (PASSES) {
		return real(origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win);
	}
	enter();
	int err = real(origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win);
	if (begin(P_Compare_and_swap, err)) {
		put_window(win);
		put_rank(target_rank);
		put(type_size(datatype));
	}
	return leave(err);
}
BOTH(Compare_and_swap)

EXPORT int PMPI_Exscan_c(W sendbuf, W recvbuf, W count, W datatype, W op, W comm)
{
	FIND(Exscan_c)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, comm);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, comm);
	if (begin(P_Exscan_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((uint64_t)count);
		put(type_size(datatype));
		put_operator(op);
	}
	return leave(err);
}
BOTH(Exscan_c)

EXPORT int PMPI_Exscan_init(W sendbuf, W recvbuf, W count, W datatype, W op, W comm, W info_, W request)
{
	FIND(Exscan_init)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, comm, info_, request);
	if (begin(P_Exscan_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((uint32_t)count);
		put(type_size(datatype));
		put_operator(op);
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Exscan_init)

EXPORT int PMPI_Exscan_init_c(W sendbuf, W recvbuf, W count, W datatype, W op, W comm, W info_, W request)
{
	FIND(Exscan_init_c)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, comm, info_, request);
	if (begin(P_Exscan_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((uint64_t)count);
		put(type_size(datatype));
		put_operator(op);
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Exscan_init_c)

EXPORT int PMPI_Fetch_and_op(W origin_addr, W result_addr, W datatype, W target_rank, W target_disp, W op, W win)
{
	FIND(Fetch_and_op)
	if (PASSES) {
		return real(origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
	}
	enter();
	int err = real(origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
	if (begin(P_Fetch_and_op, err)) {
		put_window(win);
		put_rank(target_rank);
		put(type_size(datatype));
		put(handle_of(op) == abi.no_op);
	}
	return leave(err);
}
BOTH(Fetch_and_op)

EXPORT int PMPI_File_delete(W filename, W info_)
{
	FIND(File_delete)
	if (PASSES) {
		return real(filename, info_);
	}
	enter();
	int err = real(filename, info_);
	if (begin(P_File_delete, err)) {
	}
	return leave(err);
}
BOTH(File_delete)

EXPORT int PMPI_File_get_amode(W fh, W amode)
{
	FIND(File_get_amode)
	if (PASSES) {
		return real(fh, amode);
	}
	enter();
	int err = real(fh, amode);
	if (begin(P_File_get_amode, err)) {
	}
	return leave(err);
}
BOTH(File_get_amode)

EXPORT int PMPI_File_get_atomicity(W fh, W flag)
{
	FIND(File_get_atomicity)
	if (PASSES) {
		return real(fh, flag);
	}
	enter();
	int err = real(fh, flag);
	if (begin(P_File_get_atomicity, err)) {
	}
	return leave(err);
}
BOTH(File_get_atomicity)

EXPORT int PMPI_File_get_byte_offset(W fh, W offset, W disp)
{
	FIND(File_get_byte_offset)
	if (PASSES) {
		return real(fh, offset, disp);
	}
	enter();
	int err = real(fh, offset, disp);
	if (begin(P_File_get_byte_offset, err)) {
	}
	return leave(err);
}
BOTH(File_get_byte_offset)

EXPORT int PMPI_File_get_group(W fh, W group)
{
	FIND(File_get_group)
	if (PASSES) {
		return real(fh, group);
	}
	enter();
	int err = real(fh, group);
	if (begin(P_File_get_group, err)) {
	}
	return leave(err);
}
BOTH(File_get_group)

EXPORT int PMPI_File_get_info(W fh, W info_used)
{
	FIND(File_get_info)
	if (PASSES) {
		return real(fh, info_used);
	}
	enter();
	int err = real(fh, info_used);
	if (begin(P_File_get_info, err)) {
	}
	return leave(err);
}
BOTH(File_get_info)

EXPORT int PMPI_File_get_position(W fh, W offset)
{
	FIND(File_get_position)
	if (PASSES) {
		return real(fh, offset);
	}
	enter();
	int err = real(fh, offset);
	if (begin(P_File_get_position, err)) {
	}
	return leave(err);
}
BOTH(File_get_position)

EXPORT int PMPI_File_get_position_shared(W fh, W offset)
{
	FIND(File_get_position_shared)
	if (PASSES) {
		return real(fh, offset);
	}
	enter();
	int err = real(fh, offset);
	if (begin(P_File_get_position_shared, err)) {
	}
	return leave(err);
}
BOTH(File_get_position_shared)

EXPORT int PMPI_File_get_size(W fh, W size)
{
	FIND(File_get_size)
	if (PASSES) {
		return real(fh, size);
	}
	enter();
	int err = real(fh, size);
	if (begin(P_File_get_size, err)) {
	}
	return leave(err);
}
BOTH(File_get_size)

EXPORT int PMPI_File_get_type_extent(W fh, W datatype, W extent)
{
	FIND(File_get_type_extent)
	if (PASSES) {
		return real(fh, datatype, extent);
	}
	enter();
	int err = real(fh, datatype, extent);
	if (begin(P_File_get_type_extent, err)) {
	}
	return leave(err);
}
BOTH(File_get_type_extent)

EXPORT int PMPI_File_get_type_extent_c(W fh, W datatype, W extent)
{
	FIND(File_get_type_extent_c)
	if (PASSES) {
		return real(fh, datatype, extent);
	}
	enter();
	int err = real(fh, datatype, extent);
	if (begin(P_File_get_type_extent_c, err)) {
	}
	return leave(err);
}
BOTH(File_get_type_extent_c)

EXPORT int PMPI_File_get_view(W fh, W disp, W etype, W filetype, W datarep)
{
	FIND(File_get_view)
	if (PASSES) {
		return real(fh, disp, etype, filetype, datarep);
	}
	enter();
	int err = real(fh, disp, etype, filetype, datarep);
	if (begin(P_File_get_view, err)) {
	}
	return leave(err);
}
BOTH(File_get_view)

EXPORT int PMPI_File_iread(W fh, W buf, W count, W datatype, W request)
{
	FIND(File_iread)
	if (PASSES) {
		return real(fh, buf, count, datatype, request);
	}
	enter();
	int err = real(fh, buf, count, datatype, request);
	if (begin(P_File_iread, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(File_iread)

EXPORT int PMPI_File_iread_all(W fh, W buf, W count, W datatype, W request)
{
	FIND(File_iread_all)
	if (PASSES) {
		return real(fh, buf, count, datatype, request);
	}
	enter();
	int err = real(fh, buf, count, datatype, request);
	if (begin(P_File_iread_all, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(File_iread_all)

EXPORT int PMPI_File_iread_all_c(W fh, W buf, W count, W datatype, W request)
{
	FIND(File_iread_all_c)
	if (PASSES) {
		return real(fh, buf, count, datatype, request);
	}
	enter();
	int err = real(fh, buf, count, datatype, request);
	if (begin(P_File_iread_all_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(File_iread_all_c)

EXPORT int PMPI_File_iread_at(W fh, W offset, W buf, W count, W datatype, W request)
{
	FIND(File_iread_at)
	if (PASSES) {
		return real(fh, offset, buf, count, datatype, request);
	}
	enter();
	int err = real(fh, offset, buf, count, datatype, request);
	if (begin(P_File_iread_at, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(File_iread_at)

EXPORT int PMPI_File_iread_at_all(W fh, W offset, W buf, W count, W datatype, W request)
{
	FIND(File_iread_at_all)
	if (PASSES) {
		return real(fh, offset, buf, count, datatype, request);
	}
	enter();
	int err = real(fh, offset, buf, count, datatype, request);
	if (begin(P_File_iread_at_all, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(File_iread_at_all)

EXPORT int PMPI_File_iread_at_all_c(W fh, W offset, W buf, W count, W datatype, W request)
{
	FIND(File_iread_at_all_c)
	if (PASSES) {
		return real(fh, offset, buf, count, datatype, request);
	}
	enter();
	int err = real(fh, offset, buf, count, datatype, request);
	if (begin(P_File_iread_at_all_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(File_iread_at_all_c)

EXPORT int PMPI_File_iread_at_c(W fh, W offset, W buf, W count, W datatype, W request)
{
	FIND(File_iread_at_c)
	if (PASSES) {
		return real(fh, offset, buf, count, datatype, request);
	}
	enter();
	int err = real(fh, offset, buf, count, datatype, request);
	if (begin(P_File_iread_at_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(File_iread_at_c)

EXPORT int PMPI_File_iread_c(W fh, W buf, W count, W datatype, W request)
{
	FIND(File_iread_c)
	if (PASSES) {
		return real(fh, buf, count, datatype, request);
	}
	enter();
	int err = real(fh, buf, count, datatype, request);
	if (begin(P_File_iread_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(File_iread_c)

EXPORT int PMPI_File_iread_shared(W fh, W buf, W count, W datatype, W request)
{
	FIND(File_iread_shared)
	if (PASSES) {
		return real(fh, buf, count, datatype, request);
	}
	enter();
	int err = real(fh, buf, count, datatype, request);
	if (begin(P_File_iread_shared, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(File_iread_shared)

EXPORT int PMPI_File_iread_shared_c(W fh, W buf, W count, W datatype, W request)
{
	FIND(File_iread_shared_c)
	if (PASSES) {
		return real(fh, buf, count, datatype, request);
	}
	enter();
	int err = real(fh, buf, count, datatype, request);
	if (begin(P_File_iread_shared_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(File_iread_shared_c)

EXPORT int PMPI_File_iwrite(W fh, W buf, W count, W datatype, W request)
{
	FIND(File_iwrite)
	if (PASSES) {
		return real(fh, buf, count, datatype, request);
	}
	enter();
	int err = real(fh, buf, count, datatype, request);
	if (begin(P_File_iwrite, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(File_iwrite)

EXPORT int PMPI_File_iwrite_all(W fh, W buf, W count, W datatype, W request)
{
	FIND(File_iwrite_all)
	if (PASSES) {
		return real(fh, buf, count, datatype, request);
	}
	enter();
	int err = real(fh, buf, count, datatype, request);
	if (begin(P_File_iwrite_all, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(File_iwrite_all)

EXPORT int PMPI_File_iwrite_all_c(W fh, W buf, W count, W datatype, W request)
{
	FIND(File_iwrite_all_c)
	if (PASSES) {
		return real(fh, buf, count, datatype, request);
	}
	enter();
	int err = real(fh, buf, count, datatype, request);
	if (begin(P_File_iwrite_all_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(File_iwrite_all_c)

EXPORT int PMPI_File_iwrite_at(W fh, W offset, W buf, W count, W datatype, W request)
{
	FIND(File_iwrite_at)
	if (PASSES) {
		return real(fh, offset, buf, count, datatype, request);
	}
	enter();
	int err = real(fh, offset, buf, count, datatype, request);
	if (begin(P_File_iwrite_at, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(File_iwrite_at)

EXPORT int PMPI_File_iwrite_at_all(W fh, W offset, W buf, W count, W datatype, W request)
{
	FIND(File_iwrite_at_all)
	if (PASSES) {
		return real(fh, offset, buf, count, datatype, request);
	}
	enter();
	int err = real(fh, offset, buf, count, datatype, request);
	if (begin(P_File_iwrite_at_all, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(File_iwrite_at_all)

EXPORT int PMPI_File_iwrite_at_all_c(W fh, W offset, W buf, W count, W datatype, W request)
{
	FIND(File_iwrite_at_all_c)
	if (PASSES) {
		return real(fh, offset, buf, count, datatype, request);
	}
	enter();
	int err = real(fh, offset, buf, count, datatype, request);
	if (begin(P_File_iwrite_at_all_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(File_iwrite_at_all_c)

EXPORT int PMPI_File_iwrite_at_c(W fh, W offset, W buf, W count, W datatype, W request)
{
	FIND(File_iwrite_at_c)
	if (PASSES) {
		return real(fh, offset, buf, count, datatype, request);
	}
	enter();
	int err = real(fh, offset, buf, count, datatype, request);
	if (begin(P_File_iwrite_at_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(File_iwrite_at_c)

EXPORT int PMPI_File_iwrite_c(W fh, W buf, W count, W datatype, W request)
{
	FIND(File_iwrite_c)
	if (PASSES) {
		return real(fh, buf, count, datatype, request);
	}
	enter();
	int err = real(fh, buf, count, datatype, request);
	if (begin(P_File_iwrite_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(File_iwrite_c)

EXPORT int PMPI_File_iwrite_shared(W fh, W buf, W count, W datatype, W request)
{
	FIND(File_iwrite_shared)
	if (PASSES) {
		return real(fh, buf, count, datatype, request);
	}
	enter();
	int err = real(fh, buf, count, datatype, request);
	if (begin(P_File_iwrite_shared, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(File_iwrite_shared)

EXPORT int PMPI_File_iwrite_shared_c(W fh, W buf, W count, W datatype, W request)
{
	FIND(File_iwrite_shared_c)
	if (PASSES) {
		return real(fh, buf, count, datatype, request);
	}
	enter();
	int err = real(fh, buf, count, datatype, request);
	if (begin(P_File_iwrite_shared_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(File_iwrite_shared_c)

EXPORT int PMPI_File_preallocate(W fh, W size)
{
	FIND(File_preallocate)
	if (PASSES) {
		return real(fh, size);
	}
	enter();
	int err = real(fh, size);
	if (begin(P_File_preallocate, err)) {
	}
	return leave(err);
}
BOTH(File_preallocate)

EXPORT int PMPI_File_read(W fh, W buf, W count, W datatype, W status)
{
	FIND(File_read)
	if (PASSES) {
		return real(fh, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, count, datatype, status);
	if (begin(P_File_read, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)(uint32_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_read)

EXPORT int PMPI_File_read_all(W fh, W buf, W count, W datatype, W status)
{
	FIND(File_read_all)
	if (PASSES) {
		return real(fh, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, count, datatype, status);
	if (begin(P_File_read_all, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)(uint32_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_read_all)

EXPORT int PMPI_File_read_all_begin(W fh, W buf, W count, W datatype)
{
	FIND(File_read_all_begin)
	if (PASSES) {
		return real(fh, buf, count, datatype);
	}
	enter();
	int err = real(fh, buf, count, datatype);
	if (begin(P_File_read_all_begin, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
	}
	return leave(err);
}
BOTH(File_read_all_begin)

EXPORT int PMPI_File_read_all_begin_c(W fh, W buf, W count, W datatype)
{
	FIND(File_read_all_begin_c)
	if (PASSES) {
		return real(fh, buf, count, datatype);
	}
	enter();
	int err = real(fh, buf, count, datatype);
	if (begin(P_File_read_all_begin_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
	}
	return leave(err);
}
BOTH(File_read_all_begin_c)

EXPORT int PMPI_File_read_all_c(W fh, W buf, W count, W datatype, W status)
{
	FIND(File_read_all_c)
	if (PASSES) {
		return real(fh, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, count, datatype, status);
	if (begin(P_File_read_all_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_read_all_c)

EXPORT int PMPI_File_read_all_end(W fh, W buf, W status)
{
	FIND(File_read_all_end)
	if (PASSES) {
		return real(fh, buf, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, status);
	if (begin(P_File_read_all_end, err)) {
	}
	return leave(err);
}
BOTH(File_read_all_end)

EXPORT int PMPI_File_read_at(W fh, W offset, W buf, W count, W datatype, W status)
{
	FIND(File_read_at)
	if (PASSES) {
		return real(fh, offset, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, offset, buf, count, datatype, status);
	if (begin(P_File_read_at, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)(uint32_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_read_at)

EXPORT int PMPI_File_read_at_all(W fh, W offset, W buf, W count, W datatype, W status)
{
	FIND(File_read_at_all)
	if (PASSES) {
		return real(fh, offset, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, offset, buf, count, datatype, status);
	if (begin(P_File_read_at_all, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)(uint32_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_read_at_all)

EXPORT int PMPI_File_read_at_all_begin(W fh, W offset, W buf, W count, W datatype)
{
	FIND(File_read_at_all_begin)
	if (PASSES) {
		return real(fh, offset, buf, count, datatype);
	}
	enter();
	int err = real(fh, offset, buf, count, datatype);
	if (begin(P_File_read_at_all_begin, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
	}
	return leave(err);
}
BOTH(File_read_at_all_begin)

EXPORT int PMPI_File_read_at_all_begin_c(W fh, W offset, W buf, W count, W datatype)
{
	FIND(File_read_at_all_begin_c)
	if (PASSES) {
		return real(fh, offset, buf, count, datatype);
	}
	enter();
	int err = real(fh, offset, buf, count, datatype);
	if (begin(P_File_read_at_all_begin_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
	}
	return leave(err);
}
BOTH(File_read_at_all_begin_c)

EXPORT int PMPI_File_read_at_all_c(W fh, W offset, W buf, W count, W datatype, W status)
{
	FIND(File_read_at_all_c)
	if (PASSES) {
		return real(fh, offset, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, offset, buf, count, datatype, status);
	if (begin(P_File_read_at_all_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_read_at_all_c)

EXPORT int PMPI_File_read_at_all_end(W fh, W buf, W status)
{
	FIND(File_read_at_all_end)
	if (PASSES) {
		return real(fh, buf, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, status);
	if (begin(P_File_read_at_all_end, err)) {
	}
	return leave(err);
}
BOTH(File_read_at_all_end)

EXPORT int PMPI_File_read_at_c(W fh, W offset, W buf, W count, W datatype, W status)
{
	FIND(File_read_at_c)
	if (PASSES) {
		return real(fh, offset, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, offset, buf, count, datatype, status);
	if (begin(P_File_read_at_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_read_at_c)

EXPORT int PMPI_File_read_c(W fh, W buf, W count, W datatype, W status)
{
	FIND(File_read_c)
	if (PASSES) {
		return real(fh, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, count, datatype, status);
	if (begin(P_File_read_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_read_c)

EXPORT int PMPI_File_read_ordered(W fh, W buf, W count, W datatype, W status)
{
	FIND(File_read_ordered)
	if (PASSES) {
		return real(fh, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, count, datatype, status);
	if (begin(P_File_read_ordered, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)(uint32_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_read_ordered)

EXPORT int PMPI_File_read_ordered_begin(W fh, W buf, W count, W datatype)
{
	FIND(File_read_ordered_begin)
	if (PASSES) {
		return real(fh, buf, count, datatype);
	}
	enter();
	int err = real(fh, buf, count, datatype);
	if (begin(P_File_read_ordered_begin, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
	}
	return leave(err);
}
BOTH(File_read_ordered_begin)

EXPORT int PMPI_File_read_ordered_begin_c(W fh, W buf, W count, W datatype)
{
	FIND(File_read_ordered_begin_c)
	if (PASSES) {
		return real(fh, buf, count, datatype);
	}
	enter();
	int err = real(fh, buf, count, datatype);
	if (begin(P_File_read_ordered_begin_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
	}
	return leave(err);
}
BOTH(File_read_ordered_begin_c)

EXPORT int PMPI_File_read_ordered_c(W fh, W buf, W count, W datatype, W status)
{
	FIND(File_read_ordered_c)
	if (PASSES) {
		return real(fh, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, count, datatype, status);
	if (begin(P_File_read_ordered_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_read_ordered_c)

EXPORT int PMPI_File_read_ordered_end(W fh, W buf, W status)
{
	FIND(File_read_ordered_end)
	if (PASSES) {
		return real(fh, buf, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, status);
	if (begin(P_File_read_ordered_end, err)) {
	}
	return leave(err);
}
BOTH(File_read_ordered_end)

EXPORT int PMPI_File_read_shared(W fh, W buf, W count, W datatype, W status)
{
	FIND(File_read_shared)
	if (PASSES) {
		return real(fh, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, count, datatype, status);
	if (begin(P_File_read_shared, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)(uint32_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_read_shared)

EXPORT int PMPI_File_read_shared_c(W fh, W buf, W count, W datatype, W status)
{
	FIND(File_read_shared_c)
	if (PASSES) {
		return real(fh, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, count, datatype, status);
	if (begin(P_File_read_shared_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_read_shared_c)

EXPORT int PMPI_File_seek(W fh, W offset, W whence)
{
	FIND(File_seek)
	if (PASSES) {
		return real(fh, offset, whence);
	}
	enter();
	int err = real(fh, offset, whence);
	if (begin(P_File_seek, err)) {
	}
	return leave(err);
}
BOTH(File_seek)

EXPORT int PMPI_File_seek_shared(W fh, W offset, W whence)
{
	FIND(File_seek_shared)
	if (PASSES) {
		return real(fh, offset, whence);
	}
	enter();
	int err = real(fh, offset, whence);
	if (begin(P_File_seek_shared, err)) {
	}
	return leave(err);
}
BOTH(File_seek_shared)

EXPORT int PMPI_File_set_atomicity(W fh, W flag)
{
	FIND(File_set_atomicity)
	if (PASSES) {
		return real(fh, flag);
	}
	enter();
	int err = real(fh, flag);
	if (begin(P_File_set_atomicity, err)) {
	}
	return leave(err);
}
BOTH(File_set_atomicity)

EXPORT int PMPI_File_set_info(W fh, W info_)
{
	FIND(File_set_info)
	if (PASSES) {
		return real(fh, info_);
	}
	enter();
	int err = real(fh, info_);
	if (begin(P_File_set_info, err)) {
	}
	return leave(err);
}
BOTH(File_set_info)

EXPORT int PMPI_File_set_size(W fh, W size)
{
	FIND(File_set_size)
	if (PASSES) {
		return real(fh, size);
	}
	enter();
	int err = real(fh, size);
	if (begin(P_File_set_size, err)) {
	}
	return leave(err);
}
BOTH(File_set_size)

EXPORT int PMPI_File_set_view(W fh, W disp, W etype, W filetype, W datarep, W info_)
{
	FIND(File_set_view)
	if (PASSES) {
		return real(fh, disp, etype, filetype, datarep, info_);
	}
	enter();
	int err = real(fh, disp, etype, filetype, datarep, info_);
	if (begin(P_File_set_view, err)) {
	}
	return leave(err);
}
BOTH(File_set_view)

EXPORT int PMPI_File_sync(W fh)
{
	FIND(File_sync)
	if (PASSES) {
		return real(fh);
	}
	enter();
	int err = real(fh);
	if (begin(P_File_sync, err)) {
	}
	return leave(err);
}
BOTH(File_sync)

EXPORT int PMPI_File_write(W fh, W buf, W count, W datatype, W status)
{
	FIND(File_write)
	if (PASSES) {
		return real(fh, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, count, datatype, status);
	if (begin(P_File_write, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)(uint32_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_write)

EXPORT int PMPI_File_write_all(W fh, W buf, W count, W datatype, W status)
{
	FIND(File_write_all)
	if (PASSES) {
		return real(fh, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, count, datatype, status);
	if (begin(P_File_write_all, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)(uint32_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_write_all)

EXPORT int PMPI_File_write_all_begin(W fh, W buf, W count, W datatype)
{
	FIND(File_write_all_begin)
	if (PASSES) {
		return real(fh, buf, count, datatype);
	}
	enter();
	int err = real(fh, buf, count, datatype);
	if (begin(P_File_write_all_begin, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
	}
	return leave(err);
}
BOTH(File_write_all_begin)

EXPORT int PMPI_File_write_all_begin_c(W fh, W buf, W count, W datatype)
{
	FIND(File_write_all_begin_c)
	if (PASSES) {
		return real(fh, buf, count, datatype);
	}
	enter();
	int err = real(fh, buf, count, datatype);
	if (begin(P_File_write_all_begin_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
	}
	return leave(err);
}
BOTH(File_write_all_begin_c)

EXPORT int PMPI_File_write_all_c(W fh, W buf, W count, W datatype, W status)
{
	FIND(File_write_all_c)
	if (PASSES) {
		return real(fh, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, count, datatype, status);
	if (begin(P_File_write_all_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_write_all_c)

EXPORT int PMPI_File_write_all_end(W fh, W buf, W status)
{
	FIND(File_write_all_end)
	if (PASSES) {
		return real(fh, buf, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, status);
	if (begin(P_File_write_all_end, err)) {
	}
	return leave(err);
}
BOTH(File_write_all_end)

EXPORT int PMPI_File_write_at(W fh, W offset, W buf, W count, W datatype, W status)
{
	FIND(File_write_at)
	if (PASSES) {
		return real(fh, offset, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, offset, buf, count, datatype, status);
	if (begin(P_File_write_at, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)(uint32_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_write_at)

EXPORT int PMPI_File_write_at_all(W fh, W offset, W buf, W count, W datatype, W status)
{
	FIND(File_write_at_all)
	if (PASSES) {
		return real(fh, offset, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, offset, buf, count, datatype, status);
	if (begin(P_File_write_at_all, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)(uint32_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_write_at_all)

EXPORT int PMPI_File_write_at_all_begin(W fh, W offset, W buf, W count, W datatype)
{
	FIND(File_write_at_all_begin)
	if (PASSES) {
		return real(fh, offset, buf, count, datatype);
	}
	enter();
	int err = real(fh, offset, buf, count, datatype);
	if (begin(P_File_write_at_all_begin, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
	}
	return leave(err);
}
BOTH(File_write_at_all_begin)

EXPORT int PMPI_File_write_at_all_begin_c(W fh, W offset, W buf, W count, W datatype)
{
	FIND(File_write_at_all_begin_c)
	if (PASSES) {
		return real(fh, offset, buf, count, datatype);
	}
	enter();
	int err = real(fh, offset, buf, count, datatype);
	if (begin(P_File_write_at_all_begin_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
	}
	return leave(err);
}
BOTH(File_write_at_all_begin_c)

EXPORT int PMPI_File_write_at_all_c(W fh, W offset, W buf, W count, W datatype, W status)
{
	FIND(File_write_at_all_c)
	if (PASSES) {
		return real(fh, offset, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, offset, buf, count, datatype, status);
	if (begin(P_File_write_at_all_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_write_at_all_c)

EXPORT int PMPI_File_write_at_all_end(W fh, W buf, W status)
{
	FIND(File_write_at_all_end)
	if (PASSES) {
		return real(fh, buf, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, status);
	if (begin(P_File_write_at_all_end, err)) {
	}
	return leave(err);
}
BOTH(File_write_at_all_end)

EXPORT int PMPI_File_write_at_c(W fh, W offset, W buf, W count, W datatype, W status)
{
	FIND(File_write_at_c)
	if (PASSES) {
		return real(fh, offset, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, offset, buf, count, datatype, status);
	if (begin(P_File_write_at_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_write_at_c)

EXPORT int PMPI_File_write_c(W fh, W buf, W count, W datatype, W status)
{
	FIND(File_write_c)
	if (PASSES) {
		return real(fh, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, count, datatype, status);
	if (begin(P_File_write_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_write_c)

EXPORT int PMPI_File_write_ordered(W fh, W buf, W count, W datatype, W status)
{
	FIND(File_write_ordered)
	if (PASSES) {
		return real(fh, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, count, datatype, status);
	if (begin(P_File_write_ordered, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)(uint32_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_write_ordered)

EXPORT int PMPI_File_write_ordered_begin(W fh, W buf, W count, W datatype)
{
	FIND(File_write_ordered_begin)
	if (PASSES) {
		return real(fh, buf, count, datatype);
	}
	enter();
	int err = real(fh, buf, count, datatype);
	if (begin(P_File_write_ordered_begin, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
	}
	return leave(err);
}
BOTH(File_write_ordered_begin)

EXPORT int PMPI_File_write_ordered_begin_c(W fh, W buf, W count, W datatype)
{
	FIND(File_write_ordered_begin_c)
	if (PASSES) {
		return real(fh, buf, count, datatype);
	}
	enter();
	int err = real(fh, buf, count, datatype);
	if (begin(P_File_write_ordered_begin_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
	}
	return leave(err);
}
BOTH(File_write_ordered_begin_c)

EXPORT int PMPI_File_write_ordered_c(W fh, W buf, W count, W datatype, W status)
{
	FIND(File_write_ordered_c)
	if (PASSES) {
		return real(fh, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, count, datatype, status);
	if (begin(P_File_write_ordered_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_write_ordered_c)

EXPORT int PMPI_File_write_ordered_end(W fh, W buf, W status)
{
	FIND(File_write_ordered_end)
	if (PASSES) {
		return real(fh, buf, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, status);
	if (begin(P_File_write_ordered_end, err)) {
	}
	return leave(err);
}
BOTH(File_write_ordered_end)

EXPORT int PMPI_File_write_shared(W fh, W buf, W count, W datatype, W status)
{
	FIND(File_write_shared)
	if (PASSES) {
		return real(fh, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, count, datatype, status);
	if (begin(P_File_write_shared, err)) {
		put_file(fh);
		put((uint32_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)(uint32_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_write_shared)

EXPORT int PMPI_File_write_shared_c(W fh, W buf, W count, W datatype, W status)
{
	FIND(File_write_shared_c)
	if (PASSES) {
		return real(fh, buf, count, datatype, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(fh, buf, count, datatype, status);
	if (begin(P_File_write_shared_c, err)) {
		put_file(fh);
		put((uint64_t)count);
		put(type_size(datatype));
		put_transferred((char *)status, (int64_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(File_write_shared_c)

EXPORT int PMPI_Gather_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W root, W comm)
{
	FIND(Gather_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
	if (begin(P_Gather_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint64_t)sendcount);
		}
		if (mine && recvbuf != abi.in_place) {
			put((uint64_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(sendtype));
		}
		if (mine && recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Gather_c)

EXPORT int PMPI_Gather_init(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W root, W comm, W info_, W request)
{
	FIND(Gather_init)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info_, request);
	if (begin(P_Gather_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint32_t)sendcount);
		}
		if (mine && recvbuf != abi.in_place) {
			put((uint32_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(sendtype));
		}
		if (mine && recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Gather_init)

EXPORT int PMPI_Gather_init_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W root, W comm, W info_, W request)
{
	FIND(Gather_init_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info_, request);
	if (begin(P_Gather_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint64_t)sendcount);
		}
		if (mine && recvbuf != abi.in_place) {
			put((uint64_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(sendtype));
		}
		if (mine && recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Gather_init_c)

EXPORT int PMPI_Gatherv_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcounts, W displs, W recvtype, W root, W comm)
{
	FIND(Gatherv_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
	if (begin(P_Gatherv_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint64_t)sendcount);
		}
		if (mine && recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 1);
		}
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(sendtype));
		}
		if (mine && recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Gatherv_c)

EXPORT int PMPI_Gatherv_init(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcounts, W displs, W recvtype, W root, W comm, W info_, W request)
{
	FIND(Gatherv_init)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, info_, request);
	if (begin(P_Gatherv_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint32_t)sendcount);
		}
		if (mine && recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 0);
		}
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(sendtype));
		}
		if (mine && recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Gatherv_init)

EXPORT int PMPI_Gatherv_init_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcounts, W displs, W recvtype, W root, W comm, W info_, W request)
{
	FIND(Gatherv_init_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, info_, request);
	if (begin(P_Gatherv_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint64_t)sendcount);
		}
		if (mine && recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 1);
		}
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(sendtype));
		}
		if (mine && recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Gatherv_init_c)

EXPORT int PMPI_Get(W origin_addr, W origin_count, W origin_datatype, W target_rank, W target_disp, W target_count, W target_datatype, W win)
{
	FIND(Get)
	if (PASSES) {
		return real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
	}
	enter();
	int err = real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
	if (begin(P_Get, err)) {
		put_window(win);
		put_rank(target_rank);
		put((uint32_t)origin_count);
		put(type_size(origin_datatype));
	}
	return leave(err);
}
BOTH(Get)

EXPORT int PMPI_Get_accumulate(W origin_addr, W origin_count, W origin_datatype, W result_addr, W result_count, W result_datatype, W target_rank, W target_disp, W target_count, W target_datatype, W op, W win)
{
	FIND(Get_accumulate)
	if (PASSES) {
		return real(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win);
	}
	enter();
	int err = real(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win);
	if (begin(P_Get_accumulate, err)) {
		put_window(win);
		put_rank(target_rank);
		put((uint32_t)origin_count);
		put((uint32_t)result_count);
		put(type_size(origin_datatype));
		put(type_size(result_datatype));
		put(handle_of(op) == abi.no_op);
	}
	return leave(err);
}
BOTH(Get_accumulate)

EXPORT int PMPI_Get_accumulate_c(W origin_addr, W origin_count, W origin_datatype, W result_addr, W result_count, W result_datatype, W target_rank, W target_disp, W target_count, W target_datatype, W op, W win)
{
	FIND(Get_accumulate_c)
	if (PASSES) {
		return real(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win);
	}
	enter();
	int err = real(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win);
	if (begin(P_Get_accumulate_c, err)) {
		put_window(win);
		put_rank(target_rank);
		put((uint64_t)origin_count);
		put((uint64_t)result_count);
		put(type_size(origin_datatype));
		put(type_size(result_datatype));
		put(handle_of(op) == abi.no_op);
	}
	return leave(err);
}
BOTH(Get_accumulate_c)

EXPORT int PMPI_Get_c(W origin_addr, W origin_count, W origin_datatype, W target_rank, W target_disp, W target_count, W target_datatype, W win)
{
	FIND(Get_c)
	if (PASSES) {
		return real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
	}
	enter();
	int err = real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
	if (begin(P_Get_c, err)) {
		put_window(win);
		put_rank(target_rank);
		put((uint64_t)origin_count);
		put(type_size(origin_datatype));
	}
	return leave(err);
}
BOTH(Get_c)

EXPORT int PMPI_Grequest_start(W query_fn, W free_fn, W cancel_fn, W extra_state, W request)
{
	FIND(Grequest_start)
	if (PASSES) {
		return real(query_fn, free_fn, cancel_fn, extra_state, request);
	}
	enter();
	int err = real(query_fn, free_fn, cancel_fn, extra_state, request);
	if (begin(P_Grequest_start, err)) {
		new_request(request);
	}
	return leave(err);
}
BOTH(Grequest_start)

EXPORT int PMPI_Iallgather_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm, W request)
{
	FIND(Iallgather_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
	if (begin(P_Iallgather_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint64_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint64_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Iallgather_c)

EXPORT int PMPI_Iallgatherv_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcounts, W displs, W recvtype, W comm, W request)
{
	FIND(Iallgatherv_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request);
	if (begin(P_Iallgatherv_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint64_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 1);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		put_span(recvcounts, displs, c->remote ? c->remote : c->size, 1);
		new_request(request);
	}
	return leave(err);
}
BOTH(Iallgatherv_c)

EXPORT int PMPI_Iallreduce_c(W sendbuf, W recvbuf, W count, W datatype, W op, W comm, W request)
{
	FIND(Iallreduce_c)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, comm, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, comm, request);
	if (begin(P_Iallreduce_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((uint64_t)count);
		put(type_size(datatype));
		put_operator(op);
		new_request(request);
	}
	return leave(err);
}
BOTH(Iallreduce_c)

EXPORT int PMPI_Ialltoall_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm, W request)
{
	FIND(Ialltoall_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
	if (begin(P_Ialltoall_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint64_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint64_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Ialltoall_c)

EXPORT int PMPI_Ialltoallv_c(W sendbuf, W sendcounts, W sdispls, W sendtype, W recvbuf, W recvcounts, W rdispls, W recvtype, W comm, W request)
{
	FIND(Ialltoallv_c)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request);
	if (begin(P_Ialltoallv_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->remote ? c->remote : c->size, 1);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 1);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Ialltoallv_c)

EXPORT int PMPI_Ialltoallw_c(W sendbuf, W sendcounts, W sdispls, W sendtypes, W recvbuf, W recvcounts, W rdispls, W recvtypes, W comm, W request)
{
	FIND(Ialltoallw_c)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request);
	if (begin(P_Ialltoallw_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->remote ? c->remote : c->size, 1);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 1);
		}
		if (sendbuf != abi.in_place) {
			put_sizes(sendtypes, c->remote ? c->remote : c->size);
		}
		if (recvbuf != abi.in_place) {
			put_sizes(recvtypes, c->remote ? c->remote : c->size);
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Ialltoallw_c)

EXPORT int PMPI_Ibcast_c(W buffer, W count, W datatype, W root, W comm, W request)
{
	FIND(Ibcast_c)
	if (PASSES) {
		return real(buffer, count, datatype, root, comm, request);
	}
	enter();
	int err = real(buffer, count, datatype, root, comm, request);
	if (begin(P_Ibcast_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		put((int)root == abi.proc_null ? 0 : (uint64_t)count);
		put((int)root == abi.proc_null ? 0 : type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(Ibcast_c)

EXPORT int PMPI_Ibsend_c(W buf, W count, W datatype, W dest, W tag, W comm, W request)
{
	FIND(Ibsend_c)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm, request);
	if (begin(P_Ibsend_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint64_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(Ibsend_c)

EXPORT int PMPI_Iexscan_c(W sendbuf, W recvbuf, W count, W datatype, W op, W comm, W request)
{
	FIND(Iexscan_c)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, comm, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, comm, request);
	if (begin(P_Iexscan_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((uint64_t)count);
		put(type_size(datatype));
		put_operator(op);
		new_request(request);
	}
	return leave(err);
}
BOTH(Iexscan_c)

EXPORT int PMPI_Igather_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W root, W comm, W request)
{
	FIND(Igather_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
	if (begin(P_Igather_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint64_t)sendcount);
		}
		if (mine && recvbuf != abi.in_place) {
			put((uint64_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(sendtype));
		}
		if (mine && recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Igather_c)

EXPORT int PMPI_Igatherv_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcounts, W displs, W recvtype, W root, W comm, W request)
{
	FIND(Igatherv_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, request);
	if (begin(P_Igatherv_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint64_t)sendcount);
		}
		if (mine && recvbuf != abi.in_place) {
			put_counts(recvcounts, c->remote ? c->remote : c->size, 1);
		}
		if (sendbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(sendtype));
		}
		if (mine && recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Igatherv_c)

EXPORT int PMPI_Imrecv_c(W buf, W count, W datatype, W message, W request)
{
	FIND(Imrecv_c)
	if (PASSES) {
		return real(buf, count, datatype, message, request);
	}
	enter();
	lock();
	struct message m = take_message(message ? handle_at(message, 0) : abi.message_no_proc);
	unlock();
	int err = real(buf, count, datatype, message, request);
	if (begin(P_Imrecv_c, err)) {
		put_message(&m);
		put((uint64_t)count);
		put(type_size(datatype));
		receives(new_request(request), (int64_t)count * type_size(datatype), m.source, m.tag);
	}
	return leave(err);
}
BOTH(Imrecv_c)

EXPORT int PMPI_Ineighbor_allgather_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm, W request)
{
	FIND(Ineighbor_allgather_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
	if (begin(P_Ineighbor_allgather_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint64_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint64_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Ineighbor_allgather_c)

EXPORT int PMPI_Ineighbor_allgatherv_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcounts, W displs, W recvtype, W comm, W request)
{
	FIND(Ineighbor_allgatherv_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request);
	if (begin(P_Ineighbor_allgatherv_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint64_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->sources, 1);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Ineighbor_allgatherv_c)

EXPORT int PMPI_Ineighbor_alltoall_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm, W request)
{
	FIND(Ineighbor_alltoall_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
	if (begin(P_Ineighbor_alltoall_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint64_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint64_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Ineighbor_alltoall_c)

EXPORT int PMPI_Ineighbor_alltoallv_c(W sendbuf, W sendcounts, W sdispls, W sendtype, W recvbuf, W recvcounts, W rdispls, W recvtype, W comm, W request)
{
	FIND(Ineighbor_alltoallv_c)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request);
	if (begin(P_Ineighbor_alltoallv_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->destinations, 1);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->sources, 1);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Ineighbor_alltoallv_c)

EXPORT int PMPI_Ineighbor_alltoallw_c(W sendbuf, W sendcounts, W sdispls, W sendtypes, W recvbuf, W recvcounts, W rdispls, W recvtypes, W comm, W request)
{
	FIND(Ineighbor_alltoallw_c)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request);
	if (begin(P_Ineighbor_alltoallw_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->destinations, 1);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->sources, 1);
		}
		if (sendbuf != abi.in_place) {
			put_sizes(sendtypes, c->destinations);
		}
		if (recvbuf != abi.in_place) {
			put_sizes(recvtypes, c->sources);
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Ineighbor_alltoallw_c)

EXPORT int PMPI_Irecv_c(W buf, W count, W datatype, W source, W tag, W comm, W request)
{
	FIND(Irecv_c)
	if (PASSES) {
		return real(buf, count, datatype, source, tag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, source, tag, comm, request);
	if (begin(P_Irecv_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(source);
		put_tag(tag);
		put((uint64_t)count);
		put(type_size(datatype));
		receives(new_request(request), (int64_t)count * type_size(datatype), source, tag);
	}
	return leave(err);
}
BOTH(Irecv_c)

EXPORT int PMPI_Ireduce_c(W sendbuf, W recvbuf, W count, W datatype, W op, W root, W comm, W request)
{
	FIND(Ireduce_c)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, root, comm, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, root, comm, request);
	if (begin(P_Ireduce_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((int)root == abi.proc_null ? 0 : (uint64_t)count);
		put((int)root == abi.proc_null ? 0 : type_size(datatype));
		put_operator(op);
		new_request(request);
	}
	return leave(err);
}
BOTH(Ireduce_c)

EXPORT int PMPI_Ireduce_scatter_block_c(W sendbuf, W recvbuf, W recvcount, W datatype, W op, W comm, W request)
{
	FIND(Ireduce_scatter_block_c)
	if (PASSES) {
		return real(sendbuf, recvbuf, recvcount, datatype, op, comm, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, recvcount, datatype, op, comm, request);
	if (begin(P_Ireduce_scatter_block_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (recvbuf != abi.in_place) {
			put((uint64_t)recvcount);
		}
		put(type_size(datatype));
		put_operator(op);
		new_request(request);
	}
	return leave(err);
}
BOTH(Ireduce_scatter_block_c)

EXPORT int PMPI_Ireduce_scatter_c(W sendbuf, W recvbuf, W recvcounts, W datatype, W op, W comm, W request)
{
	FIND(Ireduce_scatter_c)
	if (PASSES) {
		return real(sendbuf, recvbuf, recvcounts, datatype, op, comm, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, recvcounts, datatype, op, comm, request);
	if (begin(P_Ireduce_scatter_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->size, 1);
		}
		put(type_size(datatype));
		put_operator(op);
		new_request(request);
	}
	return leave(err);
}
BOTH(Ireduce_scatter_c)

EXPORT int PMPI_Irsend_c(W buf, W count, W datatype, W dest, W tag, W comm, W request)
{
	FIND(Irsend_c)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm, request);
	if (begin(P_Irsend_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint64_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(Irsend_c)

EXPORT int PMPI_Iscan_c(W sendbuf, W recvbuf, W count, W datatype, W op, W comm, W request)
{
	FIND(Iscan_c)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, comm, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, comm, request);
	if (begin(P_Iscan_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((uint64_t)count);
		put(type_size(datatype));
		put_operator(op);
		new_request(request);
	}
	return leave(err);
}
BOTH(Iscan_c)

EXPORT int PMPI_Iscatter_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W root, W comm, W request)
{
	FIND(Iscatter_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
	if (begin(P_Iscatter_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		if (mine) {
			put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		}
		if (mine && sendbuf != abi.in_place) {
			put((uint64_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint64_t)recvcount);
		}
		if (mine && sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Iscatter_c)

EXPORT int PMPI_Iscatterv_c(W sendbuf, W sendcounts, W displs, W sendtype, W recvbuf, W recvcount, W recvtype, W root, W comm, W request)
{
	FIND(Iscatterv_c)
	if (PASSES) {
		return real(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
	if (begin(P_Iscatterv_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		if (mine) {
			put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint64_t)recvcount);
		}
		if (mine && sendbuf != abi.in_place) {
			put_counts(sendcounts, c->remote ? c->remote : c->size, 1);
		}
		if (mine && sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(recvtype));
		}
		new_request(request);
	}
	return leave(err);
}
BOTH(Iscatterv_c)

EXPORT int PMPI_Isend_c(W buf, W count, W datatype, W dest, W tag, W comm, W request)
{
	FIND(Isend_c)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm, request);
	if (begin(P_Isend_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint64_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(Isend_c)

EXPORT int PMPI_Isendrecv_c(W sendbuf, W sendcount, W sendtype, W dest, W sendtag, W recvbuf, W recvcount, W recvtype, W source, W recvtag, W comm, W request)
{
	FIND(Isendrecv_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, request);
	if (begin(P_Isendrecv_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_rank(source);
		put_tag(sendtag);
		put_tag(recvtag);
		put((uint64_t)sendcount);
		put((uint64_t)recvcount);
		put(type_size(sendtype));
		put(type_size(recvtype));
		receives(new_request(request), (int64_t)recvcount * type_size(recvtype), source, recvtag);
	}
	return leave(err);
}
BOTH(Isendrecv_c)

EXPORT int PMPI_Isendrecv_replace_c(W buf, W count, W datatype, W dest, W sendtag, W source, W recvtag, W comm, W request)
{
	FIND(Isendrecv_replace_c)
	if (PASSES) {
		return real(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
	if (begin(P_Isendrecv_replace_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_rank(source);
		put_tag(sendtag);
		put_tag(recvtag);
		put((uint64_t)count);
		put(type_size(datatype));
		receives(new_request(request), (int64_t)count * type_size(datatype), source, recvtag);
	}
	return leave(err);
}
BOTH(Isendrecv_replace_c)

EXPORT int PMPI_Issend_c(W buf, W count, W datatype, W dest, W tag, W comm, W request)
{
	FIND(Issend_c)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm, request);
	if (begin(P_Issend_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint64_t)count);
		put(type_size(datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(Issend_c)

EXPORT int PMPI_Mrecv_c(W buf, W count, W datatype, W message, W status)
{
	FIND(Mrecv_c)
	if (PASSES) {
		return real(buf, count, datatype, message, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	lock();
	struct message m = take_message(message ? handle_at(message, 0) : abi.message_no_proc);
	unlock();
	int err = real(buf, count, datatype, message, status);
	if (begin(P_Mrecv_c, err)) {
		put_message(&m);
		put((uint64_t)count);
		put(type_size(datatype));
		put_status((char *)status, 0, (int64_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(Mrecv_c)

EXPORT int PMPI_Neighbor_allgather_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm)
{
	FIND(Neighbor_allgather_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
	if (begin(P_Neighbor_allgather_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint64_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint64_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Neighbor_allgather_c)

EXPORT int PMPI_Neighbor_allgather_init(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm, W info_, W request)
{
	FIND(Neighbor_allgather_init)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info_, request);
	if (begin(P_Neighbor_allgather_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint32_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint32_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Neighbor_allgather_init)

EXPORT int PMPI_Neighbor_allgather_init_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm, W info_, W request)
{
	FIND(Neighbor_allgather_init_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info_, request);
	if (begin(P_Neighbor_allgather_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint64_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint64_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Neighbor_allgather_init_c)

EXPORT int PMPI_Neighbor_allgatherv_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcounts, W displs, W recvtype, W comm)
{
	FIND(Neighbor_allgatherv_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
	if (begin(P_Neighbor_allgatherv_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint64_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->sources, 1);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Neighbor_allgatherv_c)

EXPORT int PMPI_Neighbor_allgatherv_init(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcounts, W displs, W recvtype, W comm, W info_, W request)
{
	FIND(Neighbor_allgatherv_init)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info_, request);
	if (begin(P_Neighbor_allgatherv_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint32_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->sources, 0);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Neighbor_allgatherv_init)

EXPORT int PMPI_Neighbor_allgatherv_init_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcounts, W displs, W recvtype, W comm, W info_, W request)
{
	FIND(Neighbor_allgatherv_init_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info_, request);
	if (begin(P_Neighbor_allgatherv_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint64_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->sources, 1);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Neighbor_allgatherv_init_c)

EXPORT int PMPI_Neighbor_alltoall_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm)
{
	FIND(Neighbor_alltoall_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
	if (begin(P_Neighbor_alltoall_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint64_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint64_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Neighbor_alltoall_c)

EXPORT int PMPI_Neighbor_alltoall_init(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm, W info_, W request)
{
	FIND(Neighbor_alltoall_init)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info_, request);
	if (begin(P_Neighbor_alltoall_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint32_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint32_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Neighbor_alltoall_init)

EXPORT int PMPI_Neighbor_alltoall_init_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W comm, W info_, W request)
{
	FIND(Neighbor_alltoall_init_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info_, request);
	if (begin(P_Neighbor_alltoall_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put((uint64_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((uint64_t)recvcount);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Neighbor_alltoall_init_c)

EXPORT int PMPI_Neighbor_alltoallv_c(W sendbuf, W sendcounts, W sdispls, W sendtype, W recvbuf, W recvcounts, W rdispls, W recvtype, W comm)
{
	FIND(Neighbor_alltoallv_c)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
	if (begin(P_Neighbor_alltoallv_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->destinations, 1);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->sources, 1);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Neighbor_alltoallv_c)

EXPORT int PMPI_Neighbor_alltoallv_init(W sendbuf, W sendcounts, W sdispls, W sendtype, W recvbuf, W recvcounts, W rdispls, W recvtype, W comm, W info_, W request)
{
	FIND(Neighbor_alltoallv_init)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info_, request);
	if (begin(P_Neighbor_alltoallv_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->destinations, 0);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->sources, 0);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Neighbor_alltoallv_init)

EXPORT int PMPI_Neighbor_alltoallv_init_c(W sendbuf, W sendcounts, W sdispls, W sendtype, W recvbuf, W recvcounts, W rdispls, W recvtype, W comm, W info_, W request)
{
	FIND(Neighbor_alltoallv_init_c)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info_, request);
	if (begin(P_Neighbor_alltoallv_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->destinations, 1);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->sources, 1);
		}
		if (sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put(type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Neighbor_alltoallv_init_c)

EXPORT int PMPI_Neighbor_alltoallw_c(W sendbuf, W sendcounts, W sdispls, W sendtypes, W recvbuf, W recvcounts, W rdispls, W recvtypes, W comm)
{
	FIND(Neighbor_alltoallw_c)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
	if (begin(P_Neighbor_alltoallw_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->destinations, 1);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->sources, 1);
		}
		if (sendbuf != abi.in_place) {
			put_sizes(sendtypes, c->destinations);
		}
		if (recvbuf != abi.in_place) {
			put_sizes(recvtypes, c->sources);
		}
	}
	return leave(err);
}
BOTH(Neighbor_alltoallw_c)

EXPORT int PMPI_Neighbor_alltoallw_init(W sendbuf, W sendcounts, W sdispls, W sendtypes, W recvbuf, W recvcounts, W rdispls, W recvtypes, W comm, W info_, W request)
{
	FIND(Neighbor_alltoallw_init)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info_, request);
	if (begin(P_Neighbor_alltoallw_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->destinations, 0);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->sources, 0);
		}
		if (sendbuf != abi.in_place) {
			put_sizes(sendtypes, c->destinations);
		}
		if (recvbuf != abi.in_place) {
			put_sizes(recvtypes, c->sources);
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Neighbor_alltoallw_init)

EXPORT int PMPI_Neighbor_alltoallw_init_c(W sendbuf, W sendcounts, W sdispls, W sendtypes, W recvbuf, W recvcounts, W rdispls, W recvtypes, W comm, W info_, W request)
{
	FIND(Neighbor_alltoallw_init_c)
	if (PASSES) {
		return real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info_, request);
	if (begin(P_Neighbor_alltoallw_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (sendbuf != abi.in_place) {
			put_counts(sendcounts, c->destinations, 1);
		}
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->sources, 1);
		}
		if (sendbuf != abi.in_place) {
			put_sizes(sendtypes, c->destinations);
		}
		if (recvbuf != abi.in_place) {
			put_sizes(recvtypes, c->sources);
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Neighbor_alltoallw_init_c)

EXPORT int PMPI_Precv_init(W buf, W partitions, W count, W datatype, W source, W tag, W comm, W info_, W request)
{
	FIND(Precv_init)
	if (PASSES) {
		return real(buf, partitions, count, datatype, source, tag, comm, info_, request);
	}
	enter();
	int err = real(buf, partitions, count, datatype, source, tag, comm, info_, request);
	if (begin(P_Precv_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(source);
		put_tag(tag);
		put((uint32_t)count);
		put(type_size(datatype));
		put((uint32_t)partitions);
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Precv_init)

EXPORT int PMPI_Probe(W source, W tag, W comm, W status)
{
	FIND(Probe)
	if (PASSES) {
		return real(source, tag, comm, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(source, tag, comm, status);
	if (begin(P_Probe, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(source);
		put_tag(tag);
		put_rank(status_source((char *)status));
		put_tag(status_tag((char *)status));
	}
	return leave(err);
}
BOTH(Probe)

EXPORT int PMPI_Psend_init(W buf, W partitions, W count, W datatype, W dest, W tag, W comm, W info_, W request)
{
	FIND(Psend_init)
	if (PASSES) {
		return real(buf, partitions, count, datatype, dest, tag, comm, info_, request);
	}
	enter();
	int err = real(buf, partitions, count, datatype, dest, tag, comm, info_, request);
	if (begin(P_Psend_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint32_t)count);
		put(type_size(datatype));
		put((uint32_t)partitions);
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Psend_init)

EXPORT int PMPI_Put(W origin_addr, W origin_count, W origin_datatype, W target_rank, W target_disp, W target_count, W target_datatype, W win)
{
	FIND(Put)
	if (PASSES) {
		return real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
	}
	enter();
	int err = real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
	if (begin(P_Put, err)) {
		put_window(win);
		put_rank(target_rank);
		put((uint32_t)origin_count);
		put(type_size(origin_datatype));
	}
	return leave(err);
}
BOTH(Put)

EXPORT int PMPI_Put_c(W origin_addr, W origin_count, W origin_datatype, W target_rank, W target_disp, W target_count, W target_datatype, W win)
{
	FIND(Put_c)
	if (PASSES) {
		return real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
	}
	enter();
	int err = real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
	if (begin(P_Put_c, err)) {
		put_window(win);
		put_rank(target_rank);
		put((uint64_t)origin_count);
		put(type_size(origin_datatype));
	}
	return leave(err);
}
BOTH(Put_c)

EXPORT int PMPI_Raccumulate(W origin_addr, W origin_count, W origin_datatype, W target_rank, W target_disp, W target_count, W target_datatype, W op, W win, W request)
{
	FIND(Raccumulate)
	if (PASSES) {
		return real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
	}
	enter();
	int err = real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
	if (begin(P_Raccumulate, err)) {
		put_window(win);
		put_rank(target_rank);
		put((uint32_t)origin_count);
		put(type_size(origin_datatype));
		put(handle_of(op) == abi.no_op);
		new_request(request);
	}
	return leave(err);
}
BOTH(Raccumulate)

EXPORT int PMPI_Raccumulate_c(W origin_addr, W origin_count, W origin_datatype, W target_rank, W target_disp, W target_count, W target_datatype, W op, W win, W request)
{
	FIND(Raccumulate_c)
	if (PASSES) {
		return real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
	}
	enter();
	int err = real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
	if (begin(P_Raccumulate_c, err)) {
		put_window(win);
		put_rank(target_rank);
		put((uint64_t)origin_count);
		put(type_size(origin_datatype));
		put(handle_of(op) == abi.no_op);
		new_request(request);
	}
	return leave(err);
}
BOTH(Raccumulate_c)

EXPORT int PMPI_Recv_c(W buf, W count, W datatype, W source, W tag, W comm, W status)
{
	FIND(Recv_c)
	if (PASSES) {
		return real(buf, count, datatype, source, tag, comm, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(buf, count, datatype, source, tag, comm, status);
	if (begin(P_Recv_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(source);
		put_tag(tag);
		put((uint64_t)count);
		put(type_size(datatype));
		put_status((char *)status, (int)source == abi.any_source || (int)tag == abi.any_tag, (int64_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(Recv_c)

EXPORT int PMPI_Recv_init(W buf, W count, W datatype, W source, W tag, W comm, W request)
{
	FIND(Recv_init)
	if (PASSES) {
		return real(buf, count, datatype, source, tag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, source, tag, comm, request);
	if (begin(P_Recv_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(source);
		put_tag(tag);
		put((uint32_t)count);
		put(type_size(datatype));
		receives(new_persistent(request), (int64_t)(uint32_t)count * type_size(datatype), source, tag);
	}
	return leave(err);
}
BOTH(Recv_init)

EXPORT int PMPI_Recv_init_c(W buf, W count, W datatype, W source, W tag, W comm, W request)
{
	FIND(Recv_init_c)
	if (PASSES) {
		return real(buf, count, datatype, source, tag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, source, tag, comm, request);
	if (begin(P_Recv_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(source);
		put_tag(tag);
		put((uint64_t)count);
		put(type_size(datatype));
		receives(new_persistent(request), (int64_t)count * type_size(datatype), source, tag);
	}
	return leave(err);
}
BOTH(Recv_init_c)

EXPORT int PMPI_Reduce_c(W sendbuf, W recvbuf, W count, W datatype, W op, W root, W comm)
{
	FIND(Reduce_c)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, root, comm);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, root, comm);
	if (begin(P_Reduce_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((int)root == abi.proc_null ? 0 : (uint64_t)count);
		put((int)root == abi.proc_null ? 0 : type_size(datatype));
		put_operator(op);
	}
	return leave(err);
}
BOTH(Reduce_c)

EXPORT int PMPI_Reduce_init(W sendbuf, W recvbuf, W count, W datatype, W op, W root, W comm, W info_, W request)
{
	FIND(Reduce_init)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, root, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, root, comm, info_, request);
	if (begin(P_Reduce_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((int)root == abi.proc_null ? 0 : (uint32_t)count);
		put((int)root == abi.proc_null ? 0 : type_size(datatype));
		put_operator(op);
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Reduce_init)

EXPORT int PMPI_Reduce_init_c(W sendbuf, W recvbuf, W count, W datatype, W op, W root, W comm, W info_, W request)
{
	FIND(Reduce_init_c)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, root, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, root, comm, info_, request);
	if (begin(P_Reduce_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((int)root == abi.proc_null ? 0 : (uint64_t)count);
		put((int)root == abi.proc_null ? 0 : type_size(datatype));
		put_operator(op);
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Reduce_init_c)

EXPORT int PMPI_Reduce_scatter_block_c(W sendbuf, W recvbuf, W recvcount, W datatype, W op, W comm)
{
	FIND(Reduce_scatter_block_c)
	if (PASSES) {
		return real(sendbuf, recvbuf, recvcount, datatype, op, comm);
	}
	enter();
	int err = real(sendbuf, recvbuf, recvcount, datatype, op, comm);
	if (begin(P_Reduce_scatter_block_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (recvbuf != abi.in_place) {
			put((uint64_t)recvcount);
		}
		put(type_size(datatype));
		put_operator(op);
	}
	return leave(err);
}
BOTH(Reduce_scatter_block_c)

EXPORT int PMPI_Reduce_scatter_block_init(W sendbuf, W recvbuf, W recvcount, W datatype, W op, W comm, W info_, W request)
{
	FIND(Reduce_scatter_block_init)
	if (PASSES) {
		return real(sendbuf, recvbuf, recvcount, datatype, op, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, recvcount, datatype, op, comm, info_, request);
	if (begin(P_Reduce_scatter_block_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (recvbuf != abi.in_place) {
			put((uint32_t)recvcount);
		}
		put(type_size(datatype));
		put_operator(op);
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Reduce_scatter_block_init)

EXPORT int PMPI_Reduce_scatter_block_init_c(W sendbuf, W recvbuf, W recvcount, W datatype, W op, W comm, W info_, W request)
{
	FIND(Reduce_scatter_block_init_c)
	if (PASSES) {
		return real(sendbuf, recvbuf, recvcount, datatype, op, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, recvcount, datatype, op, comm, info_, request);
	if (begin(P_Reduce_scatter_block_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (recvbuf != abi.in_place) {
			put((uint64_t)recvcount);
		}
		put(type_size(datatype));
		put_operator(op);
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Reduce_scatter_block_init_c)

EXPORT int PMPI_Reduce_scatter_c(W sendbuf, W recvbuf, W recvcounts, W datatype, W op, W comm)
{
	FIND(Reduce_scatter_c)
	if (PASSES) {
		return real(sendbuf, recvbuf, recvcounts, datatype, op, comm);
	}
	enter();
	int err = real(sendbuf, recvbuf, recvcounts, datatype, op, comm);
	if (begin(P_Reduce_scatter_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->size, 1);
		}
		put(type_size(datatype));
		put_operator(op);
	}
	return leave(err);
}
BOTH(Reduce_scatter_c)

EXPORT int PMPI_Reduce_scatter_init(W sendbuf, W recvbuf, W recvcounts, W datatype, W op, W comm, W info_, W request)
{
	FIND(Reduce_scatter_init)
	if (PASSES) {
		return real(sendbuf, recvbuf, recvcounts, datatype, op, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, recvcounts, datatype, op, comm, info_, request);
	if (begin(P_Reduce_scatter_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->size, 0);
		}
		put(type_size(datatype));
		put_operator(op);
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Reduce_scatter_init)

EXPORT int PMPI_Reduce_scatter_init_c(W sendbuf, W recvbuf, W recvcounts, W datatype, W op, W comm, W info_, W request)
{
	FIND(Reduce_scatter_init_c)
	if (PASSES) {
		return real(sendbuf, recvbuf, recvcounts, datatype, op, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, recvcounts, datatype, op, comm, info_, request);
	if (begin(P_Reduce_scatter_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		if (recvbuf != abi.in_place) {
			put_counts(recvcounts, c->size, 1);
		}
		put(type_size(datatype));
		put_operator(op);
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Reduce_scatter_init_c)

EXPORT int PMPI_Rget(W origin_addr, W origin_count, W origin_datatype, W target_rank, W target_disp, W target_count, W target_datatype, W win, W request)
{
	FIND(Rget)
	if (PASSES) {
		return real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
	}
	enter();
	int err = real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
	if (begin(P_Rget, err)) {
		put_window(win);
		put_rank(target_rank);
		put((uint32_t)origin_count);
		put(type_size(origin_datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(Rget)

EXPORT int PMPI_Rget_accumulate(W origin_addr, W origin_count, W origin_datatype, W result_addr, W result_count, W result_datatype, W target_rank, W target_disp, W target_count, W target_datatype, W op, W win, W request)
{
	FIND(Rget_accumulate)
	if (PASSES) {
		return real(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
	}
	enter();
	int err = real(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
	if (begin(P_Rget_accumulate, err)) {
		put_window(win);
		put_rank(target_rank);
		put((uint32_t)origin_count);
		put((uint32_t)result_count);
		put(type_size(origin_datatype));
		put(type_size(result_datatype));
		put(handle_of(op) == abi.no_op);
		new_request(request);
	}
	return leave(err);
}
BOTH(Rget_accumulate)

EXPORT int PMPI_Rget_accumulate_c(W origin_addr, W origin_count, W origin_datatype, W result_addr, W result_count, W result_datatype, W target_rank, W target_disp, W target_count, W target_datatype, W op, W win, W request)
{
	FIND(Rget_accumulate_c)
	if (PASSES) {
		return real(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
	}
	enter();
	int err = real(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
	if (begin(P_Rget_accumulate_c, err)) {
		put_window(win);
		put_rank(target_rank);
		put((uint64_t)origin_count);
		put((uint64_t)result_count);
		put(type_size(origin_datatype));
		put(type_size(result_datatype));
		put(handle_of(op) == abi.no_op);
		new_request(request);
	}
	return leave(err);
}
BOTH(Rget_accumulate_c)

EXPORT int PMPI_Rget_c(W origin_addr, W origin_count, W origin_datatype, W target_rank, W target_disp, W target_count, W target_datatype, W win, W request)
{
	FIND(Rget_c)
	if (PASSES) {
		return real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
	}
	enter();
	int err = real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
	if (begin(P_Rget_c, err)) {
		put_window(win);
		put_rank(target_rank);
		put((uint64_t)origin_count);
		put(type_size(origin_datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(Rget_c)

EXPORT int PMPI_Rput(W origin_addr, W origin_count, W origin_datatype, W target_rank, W target_disp, W target_count, W target_datatype, W win, W request)
{
	FIND(Rput)
	if (PASSES) {
		return real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
	}
	enter();
	int err = real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
	if (begin(P_Rput, err)) {
		put_window(win);
		put_rank(target_rank);
		put((uint32_t)origin_count);
		put(type_size(origin_datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(Rput)

EXPORT int PMPI_Rput_c(W origin_addr, W origin_count, W origin_datatype, W target_rank, W target_disp, W target_count, W target_datatype, W win, W request)
{
	FIND(Rput_c)
	if (PASSES) {
		return real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
	}
	enter();
	int err = real(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
	if (begin(P_Rput_c, err)) {
		put_window(win);
		put_rank(target_rank);
		put((uint64_t)origin_count);
		put(type_size(origin_datatype));
		new_request(request);
	}
	return leave(err);
}
BOTH(Rput_c)

EXPORT int PMPI_Rsend_c(W buf, W count, W datatype, W dest, W tag, W comm)
{
	FIND(Rsend_c)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm);
	if (begin(P_Rsend_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint64_t)count);
		put(type_size(datatype));
	}
	return leave(err);
}
BOTH(Rsend_c)

EXPORT int PMPI_Rsend_init(W buf, W count, W datatype, W dest, W tag, W comm, W request)
{
	FIND(Rsend_init)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm, request);
	if (begin(P_Rsend_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint32_t)count);
		put(type_size(datatype));
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Rsend_init)

EXPORT int PMPI_Rsend_init_c(W buf, W count, W datatype, W dest, W tag, W comm, W request)
{
	FIND(Rsend_init_c)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm, request);
	if (begin(P_Rsend_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint64_t)count);
		put(type_size(datatype));
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Rsend_init_c)

EXPORT int PMPI_Scan_c(W sendbuf, W recvbuf, W count, W datatype, W op, W comm)
{
	FIND(Scan_c)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, comm);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, comm);
	if (begin(P_Scan_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((uint64_t)count);
		put(type_size(datatype));
		put_operator(op);
	}
	return leave(err);
}
BOTH(Scan_c)

EXPORT int PMPI_Scan_init(W sendbuf, W recvbuf, W count, W datatype, W op, W comm, W info_, W request)
{
	FIND(Scan_init)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, comm, info_, request);
	if (begin(P_Scan_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((uint32_t)count);
		put(type_size(datatype));
		put_operator(op);
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Scan_init)

EXPORT int PMPI_Scan_init_c(W sendbuf, W recvbuf, W count, W datatype, W op, W comm, W info_, W request)
{
	FIND(Scan_init_c)
	if (PASSES) {
		return real(sendbuf, recvbuf, count, datatype, op, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, recvbuf, count, datatype, op, comm, info_, request);
	if (begin(P_Scan_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		put((uint64_t)count);
		put(type_size(datatype));
		put_operator(op);
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Scan_init_c)

EXPORT int PMPI_Scatter_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W root, W comm)
{
	FIND(Scatter_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
	if (begin(P_Scatter_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		if (mine) {
			put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		}
		if (mine && sendbuf != abi.in_place) {
			put((uint64_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint64_t)recvcount);
		}
		if (mine && sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Scatter_c)

EXPORT int PMPI_Scatter_init(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W root, W comm, W info_, W request)
{
	FIND(Scatter_init)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info_, request);
	if (begin(P_Scatter_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		if (mine) {
			put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		}
		if (mine && sendbuf != abi.in_place) {
			put((uint32_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint32_t)recvcount);
		}
		if (mine && sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Scatter_init)

EXPORT int PMPI_Scatter_init_c(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype, W root, W comm, W info_, W request)
{
	FIND(Scatter_init_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info_, request);
	if (begin(P_Scatter_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		if (mine) {
			put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		}
		if (mine && sendbuf != abi.in_place) {
			put((uint64_t)sendcount);
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint64_t)recvcount);
		}
		if (mine && sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Scatter_init_c)

EXPORT int PMPI_Scatterv_c(W sendbuf, W sendcounts, W displs, W sendtype, W recvbuf, W recvcount, W recvtype, W root, W comm)
{
	FIND(Scatterv_c)
	if (PASSES) {
		return real(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
	}
	enter();
	int err = real(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
	if (begin(P_Scatterv_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		if (mine) {
			put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint64_t)recvcount);
		}
		if (mine && sendbuf != abi.in_place) {
			put_counts(sendcounts, c->remote ? c->remote : c->size, 1);
		}
		if (mine && sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(recvtype));
		}
	}
	return leave(err);
}
BOTH(Scatterv_c)

EXPORT int PMPI_Scatterv_init(W sendbuf, W sendcounts, W displs, W sendtype, W recvbuf, W recvcount, W recvtype, W root, W comm, W info_, W request)
{
	FIND(Scatterv_init)
	if (PASSES) {
		return real(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, info_, request);
	if (begin(P_Scatterv_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		if (mine) {
			put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint32_t)recvcount);
		}
		if (mine && sendbuf != abi.in_place) {
			put_counts(sendcounts, c->remote ? c->remote : c->size, 0);
		}
		if (mine && sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Scatterv_init)

EXPORT int PMPI_Scatterv_init_c(W sendbuf, W sendcounts, W displs, W sendtype, W recvbuf, W recvcount, W recvtype, W root, W comm, W info_, W request)
{
	FIND(Scatterv_init_c)
	if (PASSES) {
		return real(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, info_, request);
	}
	enter();
	int err = real(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, info_, request);
	if (begin(P_Scatterv_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(root);
		int mine = (int)root == (c->remote ? abi.root : c->rank);
		if (mine) {
			put((sendbuf == abi.in_place) | (recvbuf == abi.in_place) << 1);
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : (uint64_t)recvcount);
		}
		if (mine && sendbuf != abi.in_place) {
			put_counts(sendcounts, c->remote ? c->remote : c->size, 1);
		}
		if (mine && sendbuf != abi.in_place) {
			put(type_size(sendtype));
		}
		if (recvbuf != abi.in_place) {
			put((int)root == abi.proc_null || (int)root == abi.root ? 0 : type_size(recvtype));
		}
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Scatterv_init_c)

EXPORT int PMPI_Send_c(W buf, W count, W datatype, W dest, W tag, W comm)
{
	FIND(Send_c)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm);
	if (begin(P_Send_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint64_t)count);
		put(type_size(datatype));
	}
	return leave(err);
}
BOTH(Send_c)

EXPORT int PMPI_Send_init(W buf, W count, W datatype, W dest, W tag, W comm, W request)
{
	FIND(Send_init)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm, request);
	if (begin(P_Send_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint32_t)count);
		put(type_size(datatype));
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Send_init)

EXPORT int PMPI_Send_init_c(W buf, W count, W datatype, W dest, W tag, W comm, W request)
{
	FIND(Send_init_c)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm, request);
	if (begin(P_Send_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint64_t)count);
		put(type_size(datatype));
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Send_init_c)

EXPORT int PMPI_Sendrecv_c(W sendbuf, W sendcount, W sendtype, W dest, W sendtag, W recvbuf, W recvcount, W recvtype, W source, W recvtag, W comm, W status)
{
	FIND(Sendrecv_c)
	if (PASSES) {
		return real(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status);
	if (begin(P_Sendrecv_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_rank(source);
		put_tag(sendtag);
		put_tag(recvtag);
		put((uint64_t)sendcount);
		put((uint64_t)recvcount);
		put(type_size(sendtype));
		put(type_size(recvtype));
		put_status((char *)status, (int)source == abi.any_source || (int)recvtag == abi.any_tag, (int64_t)recvcount * type_size(recvtype));
	}
	return leave(err);
}
BOTH(Sendrecv_c)

EXPORT int PMPI_Sendrecv_replace_c(W buf, W count, W datatype, W dest, W sendtag, W source, W recvtag, W comm, W status)
{
	FIND(Sendrecv_replace_c)
	if (PASSES) {
		return real(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
	}
	enter();
	char own[STATUS_BYTES];
	if (status == abi.status_ignore) {
		status = (W)own;
	}
	int err = real(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
	if (begin(P_Sendrecv_replace_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_rank(source);
		put_tag(sendtag);
		put_tag(recvtag);
		put((uint64_t)count);
		put(type_size(datatype));
		put_status((char *)status, (int)source == abi.any_source || (int)recvtag == abi.any_tag, (int64_t)count * type_size(datatype));
	}
	return leave(err);
}
BOTH(Sendrecv_replace_c)

EXPORT int PMPI_Ssend_c(W buf, W count, W datatype, W dest, W tag, W comm)
{
	FIND(Ssend_c)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm);
	if (begin(P_Ssend_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint64_t)count);
		put(type_size(datatype));
	}
	return leave(err);
}
BOTH(Ssend_c)

EXPORT int PMPI_Ssend_init(W buf, W count, W datatype, W dest, W tag, W comm, W request)
{
	FIND(Ssend_init)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm, request);
	if (begin(P_Ssend_init, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint32_t)count);
		put(type_size(datatype));
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Ssend_init)

EXPORT int PMPI_Ssend_init_c(W buf, W count, W datatype, W dest, W tag, W comm, W request)
{
	FIND(Ssend_init_c)
	if (PASSES) {
		return real(buf, count, datatype, dest, tag, comm, request);
	}
	enter();
	int err = real(buf, count, datatype, dest, tag, comm, request);
	if (begin(P_Ssend_init_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		put_rank(dest);
		put_tag(tag);
		put((uint64_t)count);
		put(type_size(datatype));
		new_persistent(request);
	}
	return leave(err);
}
BOTH(Ssend_init_c)

EXPORT int PMPI_Win_allocate(W size, W disp_unit, W info_, W comm, W baseptr, W win)
{
	FIND(Win_allocate)
	if (PASSES) {
		return real(size, disp_unit, info_, comm, baseptr, win);
	}
	enter();
	int err = real(size, disp_unit, info_, comm, baseptr, win);
	if (begin(P_Win_allocate, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		add_window(win, c->number == STRANGER);
	}
	return leave(err);
}
BOTH(Win_allocate)

EXPORT int PMPI_Win_allocate_c(W size, W disp_unit, W info_, W comm, W baseptr, W win)
{
	FIND(Win_allocate_c)
	if (PASSES) {
		return real(size, disp_unit, info_, comm, baseptr, win);
	}
	enter();
	int err = real(size, disp_unit, info_, comm, baseptr, win);
	if (begin(P_Win_allocate_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		add_window(win, c->number == STRANGER);
	}
	return leave(err);
}
BOTH(Win_allocate_c)

EXPORT int PMPI_Win_allocate_shared(W size, W disp_unit, W info_, W comm, W baseptr, W win)
{
	FIND(Win_allocate_shared)
	if (PASSES) {
		return real(size, disp_unit, info_, comm, baseptr, win);
	}
	enter();
	int err = real(size, disp_unit, info_, comm, baseptr, win);
	if (begin(P_Win_allocate_shared, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		add_window(win, c->number == STRANGER);
	}
	return leave(err);
}
BOTH(Win_allocate_shared)

EXPORT int PMPI_Win_allocate_shared_c(W size, W disp_unit, W info_, W comm, W baseptr, W win)
{
	FIND(Win_allocate_shared_c)
	if (PASSES) {
		return real(size, disp_unit, info_, comm, baseptr, win);
	}
	enter();
	int err = real(size, disp_unit, info_, comm, baseptr, win);
	if (begin(P_Win_allocate_shared_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		add_window(win, c->number == STRANGER);
	}
	return leave(err);
}
BOTH(Win_allocate_shared_c)

EXPORT int PMPI_Win_complete(W win)
{
	FIND(Win_complete)
	if (PASSES) {
		return real(win);
	}
	enter();
	int err = real(win);
	if (begin(P_Win_complete, err)) {
		put_window(win);
	}
	return leave(err);
}
BOTH(Win_complete)

EXPORT int PMPI_Win_create(W base, W size, W disp_unit, W info_, W comm, W win)
{
	FIND(Win_create)
	if (PASSES) {
		return real(base, size, disp_unit, info_, comm, win);
	}
	enter();
	int err = real(base, size, disp_unit, info_, comm, win);
	if (begin(P_Win_create, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		add_window(win, c->number == STRANGER);
	}
	return leave(err);
}
BOTH(Win_create)

EXPORT int PMPI_Win_create_c(W base, W size, W disp_unit, W info_, W comm, W win)
{
	FIND(Win_create_c)
	if (PASSES) {
		return real(base, size, disp_unit, info_, comm, win);
	}
	enter();
	int err = real(base, size, disp_unit, info_, comm, win);
	if (begin(P_Win_create_c, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		add_window(win, c->number == STRANGER);
	}
	return leave(err);
}
BOTH(Win_create_c)

EXPORT int PMPI_Win_create_dynamic(W info_, W comm, W win)
{
	FIND(Win_create_dynamic)
	if (PASSES) {
		return real(info_, comm, win);
	}
	enter();
	int err = real(info_, comm, win);
	if (begin(P_Win_create_dynamic, err)) {
		struct comm *c = comm_of(comm);
		put_comm(c);
		add_window(win, c->number == STRANGER);
	}
	return leave(err);
}
BOTH(Win_create_dynamic)

EXPORT int PMPI_Win_fence(W assert, W win)
{
	FIND(Win_fence)
	if (PASSES) {
		return real(assert, win);
	}
	enter();
	int err = real(assert, win);
	if (begin(P_Win_fence, err)) {
		put_window(win);
		put_assertions(assert);
	}
	return leave(err);
}
BOTH(Win_fence)

EXPORT int PMPI_Win_flush(W rank, W win)
{
	FIND(Win_flush)
	if (PASSES) {
		return real(rank, win);
	}
	enter();
	int err = real(rank, win);
	if (begin(P_Win_flush, err)) {
		put_window(win);
		put_rank(rank);
	}
	return leave(err);
}
BOTH(Win_flush)

EXPORT int PMPI_Win_flush_all(W win)
{
	FIND(Win_flush_all)
	if (PASSES) {
		return real(win);
	}
	enter();
	int err = real(win);
	if (begin(P_Win_flush_all, err)) {
		put_window(win);
	}
	return leave(err);
}
BOTH(Win_flush_all)

EXPORT int PMPI_Win_flush_local(W rank, W win)
{
	FIND(Win_flush_local)
	if (PASSES) {
		return real(rank, win);
	}
	enter();
	int err = real(rank, win);
	if (begin(P_Win_flush_local, err)) {
		put_window(win);
		put_rank(rank);
	}
	return leave(err);
}
BOTH(Win_flush_local)

EXPORT int PMPI_Win_flush_local_all(W win)
{
	FIND(Win_flush_local_all)
	if (PASSES) {
		return real(win);
	}
	enter();
	int err = real(win);
	if (begin(P_Win_flush_local_all, err)) {
		put_window(win);
	}
	return leave(err);
}
BOTH(Win_flush_local_all)

EXPORT int PMPI_Win_lock(W lock_type, W rank, W assert, W win)
{
	FIND(Win_lock)
	if (PASSES) {
		return real(lock_type, rank, assert, win);
	}
	enter();
	int err = real(lock_type, rank, assert, win);
	if (begin(P_Win_lock, err)) {
		put_window(win);
		put_rank(rank);
		put_assertions(assert);
		put((int)lock_type == abi.lock_shared);
	}
	return leave(err);
}
BOTH(Win_lock)

EXPORT int PMPI_Win_lock_all(W assert, W win)
{
	FIND(Win_lock_all)
	if (PASSES) {
		return real(assert, win);
	}
	enter();
	int err = real(assert, win);
	if (begin(P_Win_lock_all, err)) {
		put_window(win);
		put_assertions(assert);
	}
	return leave(err);
}
BOTH(Win_lock_all)

EXPORT int PMPI_Win_post(W group, W assert, W win)
{
	FIND(Win_post)
	if (PASSES) {
		return real(group, assert, win);
	}
	enter();
	int err = real(group, assert, win);
	if (begin(P_Win_post, err)) {
		put_window(win);
		put_assertions(assert);
		put_members(group);
	}
	return leave(err);
}
BOTH(Win_post)

EXPORT int PMPI_Win_start(W group, W assert, W win)
{
	FIND(Win_start)
	if (PASSES) {
		return real(group, assert, win);
	}
	enter();
	int err = real(group, assert, win);
	if (begin(P_Win_start, err)) {
		put_window(win);
		put_assertions(assert);
		put_members(group);
	}
	return leave(err);
}
BOTH(Win_start)

EXPORT int PMPI_Win_test(W win, W flag)
{
	FIND(Win_test)
	if (PASSES) {
		return real(win, flag);
	}
	enter();
	int err = real(win, flag);
	if (begin(P_Win_test, err)) {
		put_window(win);
		put(int_at(flag, 0) != 0);
	}
	return leave(err);
}
BOTH(Win_test)

EXPORT int PMPI_Win_unlock(W rank, W win)
{
	FIND(Win_unlock)
	if (PASSES) {
		return real(rank, win);
	}
	enter();
	int err = real(rank, win);
	if (begin(P_Win_unlock, err)) {
		put_window(win);
		put_rank(rank);
	}
	return leave(err);
}
BOTH(Win_unlock)

EXPORT int PMPI_Win_unlock_all(W win)
{
	FIND(Win_unlock_all)
	if (PASSES) {
		return real(win);
	}
	enter();
	int err = real(win);
	if (begin(P_Win_unlock_all, err)) {
		put_window(win);
	}
	return leave(err);
}
BOTH(Win_unlock_all)

EXPORT int PMPI_Win_wait(W win)
{
	FIND(Win_wait)
	if (PASSES) {
		return real(win);
	}
	enter();
	int err = real(win);
	if (begin(P_Win_wait, err)) {
		put_window(win);
	}
	return leave(err);
}
BOTH(Win_wait)

EXPORT int PMPI_Comm_accept(W port_name, W info_, W root, W comm, W newcomm)
{
	FIND(Comm_accept)
	if (PASSES) {
		return real(port_name, info_, root, comm, newcomm);
	}
	enter();
	int err = real(port_name, info_, root, comm, newcomm);
	begin(P_Comm_accept, err);
	return leave(err);
}
BOTH(Comm_accept)

EXPORT int PMPI_Comm_connect(W port_name, W info_, W root, W comm, W newcomm)
{
	FIND(Comm_connect)
	if (PASSES) {
		return real(port_name, info_, root, comm, newcomm);
	}
	enter();
	int err = real(port_name, info_, root, comm, newcomm);
	begin(P_Comm_connect, err);
	return leave(err);
}
BOTH(Comm_connect)

EXPORT int PMPI_Comm_join(W fd, W intercomm)
{
	FIND(Comm_join)
	if (PASSES) {
		return real(fd, intercomm);
	}
	enter();
	int err = real(fd, intercomm);
	begin(P_Comm_join, err);
	return leave(err);
}
BOTH(Comm_join)

EXPORT int PMPI_Comm_spawn(W command, W argv, W maxprocs, W info_, W root, W comm, W intercomm, W array_of_errcodes)
{
	FIND(Comm_spawn)
	if (PASSES) {
		return real(command, argv, maxprocs, info_, root, comm, intercomm, array_of_errcodes);
	}
	enter();
	int err = real(command, argv, maxprocs, info_, root, comm, intercomm, array_of_errcodes);
	begin(P_Comm_spawn, err);
	return leave(err);
}
BOTH(Comm_spawn)

EXPORT int PMPI_Comm_spawn_multiple(W count, W array_of_commands, W array_of_argv, W array_of_maxprocs, W array_of_info, W root, W comm, W intercomm, W array_of_errcodes)
{
	FIND(Comm_spawn_multiple)
	if (PASSES) {
		return real(count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info, root, comm, intercomm, array_of_errcodes);
	}
	enter();
	int err = real(count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info, root, comm, intercomm, array_of_errcodes);
	begin(P_Comm_spawn_multiple, err);
	return leave(err);
}
BOTH(Comm_spawn_multiple)
