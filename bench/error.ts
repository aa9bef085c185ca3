/** An error that the user of the benchmarks can act on, printed as one line without a stack. */
export class BenchError extends Error {}
