import type { Course, Figures } from '../../schema/runtime-stats.ts';
import type { BucketSpan } from './buckets.ts';

/** Divides a window into points of equal length. */

type Numbered<Bucket> = readonly (readonly [index: number, bucket: Bucket])[];

/**
 * Points start at multiples of their length, so that they keep their place between two readings. There is therefore at
 * most one more than `most`, and the first and the last one may extend beyond the window.
 */
export const courseOf = <Bucket>(
  buckets: Numbered<Bucket>,
  { first, last }: BucketSpan,
  options: {
    most: number;
    bucketSeconds: number;
    figuresOf: (buckets: readonly Bucket[]) => Figures;
  },
): Course => {
  const { most, bucketSeconds, figuresOf } = options;
  const length = Math.max(1, Math.ceil((last - first + 1) / most));
  const point_seconds = length * bucketSeconds;
  const start = Math.floor(first / length);
  const count = Math.max(0, Math.floor(last / length) - start + 1);
  const groups = Array.from({ length: count }, (): Bucket[] => []);
  for (const [index, bucket] of buckets) groups[Math.floor(index / length) - start]?.push(bucket);
  const points = groups.map((own, index) => ({ from: (start + index) * point_seconds, ...figuresOf(own) }));
  return { point_seconds, total: figuresOf(buckets.map(([, bucket]) => bucket)), points };
};
