"""The same report sooner: in several processes, on a Dask cluster, and from a cache of what was decided before."""
