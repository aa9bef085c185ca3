import { performance } from 'node:perf_hooks';

/**
 * Shares an expensive rendering among all readers: it is executed at most once per interval.
 *
 * Guarantees: a reader receives a rendering that was started after its request, so it contains all earlier changes. The
 * first reader after a pause is served at once; readers within the interval wait for its end and share one result.
 */
export const createSharedRendering = (
  render: () => Promise<string>,
  intervalMs: number,
): (() => Promise<Uint8Array>) => {
  let next: Promise<Uint8Array> | undefined;
  let startedAt = Number.NEGATIVE_INFINITY;

  const begin = async (): Promise<Uint8Array> => {
    next = undefined;
    startedAt = performance.now();
    return Buffer.from(await render());
  };

  return () => {
    const wait = startedAt + intervalMs - performance.now();
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
