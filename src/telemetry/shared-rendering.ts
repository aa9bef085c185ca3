import { performance } from 'node:perf_hooks';

/**
 * A text that is dear to make, for any number of readers: made at most once in an interval.
 *
 * Guarantees: what a reader gets was begun after it asked, so it never misses what had happened by then. The first one
 * after a pause is served at once; those that come within the interval wait for its end and share one result.
 */
export const createSharedRendering = (
  render: () => Promise<string>,
  intervalMs: number,
): (() => Promise<Uint8Array>) => {
  let next: Promise<Uint8Array> | undefined;
  let begunAt = Number.NEGATIVE_INFINITY;

  const begin = async (): Promise<Uint8Array> => {
    next = undefined;
    begunAt = performance.now();
    return Buffer.from(await render());
  };

  return () => {
    const wait = begunAt + intervalMs - performance.now();
    if (next) return next;
    if (wait <= 0) return begin();
    next = after(wait).then(begin);
    return next;
  };
};

const after = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, Math.ceil(ms)).unref();
  });
