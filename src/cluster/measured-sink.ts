import type { ShippedBatch, Sink, SinkOutcome } from '../store/engine/sink.ts';
import type { MemberMetrics } from './member-types.ts';

export type MeasuredSinkOptions = {
  sink: Sink;
  monotonic(): number;
  metrics: Pick<MemberMetrics, 'committed'>;
  /** Receives why the member commits nothing more. */
  ended(why: 'fenced' | 'behind'): void;
};

/** A sink that reports the duration of each group, and the end of the membership. */
export const measureSink = ({ sink, monotonic, metrics, ended }: MeasuredSinkOptions): Sink => ({
  async ship(group) {
    const startedAt = monotonic();
    const outcomes = await sink.ship(group);
    const result = outcomes.every((outcome) => outcome.result === 'applied') ? 'applied' : 'refused';
    metrics.committed(result, (monotonic() - startedAt) / 1000, rowsOf(group));
    const why = endOf(outcomes);
    if (why) ended(why);
    return outcomes;
  },
});

const rowsOf = (group: readonly ShippedBatch[]): number =>
  group.reduce((sum, { rows, gone }) => sum + rows.length + gone.length, 0);

const endOf = (outcomes: readonly SinkOutcome[]): 'fenced' | 'behind' | undefined => {
  for (const outcome of outcomes) {
    if (outcome.result === 'refused' && (outcome.why === 'fenced' || outcome.why === 'behind'))
      return outcome.why;
  }
  return undefined;
};
