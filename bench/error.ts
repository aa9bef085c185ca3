/** What the person who asked for benchmarks can act on: told as one line, without a stack. */
export class BenchError extends Error {}
