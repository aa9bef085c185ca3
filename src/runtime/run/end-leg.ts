import type { Message } from '../../schema/message.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import { historyOf } from '../ledger/ledger.ts';
import type { Write } from '../ledger/transaction.ts';
import type { Execution } from './execution.ts';

/**
 * Reports the end of a leg of a run to the adapter of its client, in the commit that ends the run or makes its wait
 * durable. Runs of other adapters have no legs.
 *
 * @param stopped the partial answer of a cancelled run, which is not part of the history
 */
export const endLeg = (
  { deps, run, ledger, stream }: Pick<Execution, 'deps' | 'run' | 'ledger' | 'stream'>,
  write: Write,
  stopped?: Message,
): void => {
  const { activation } = run;
  const leg = activation?.options.leg;
  if (!leg || !deps.legs) return;
  const { batch, at } = write;
  const { scope, tail } = ledger;
  deps.legs.ended(batch, {
    scope,
    run,
    leg,
    seq: tail.seq,
    history: historyOf(ledger),
    stopped,
    withdrawn: stream.withdrawn(),
    isRead: stream.channel().isReadBy(activation.trace.adapter),
    at,
  });
};

/** Reports the end of the leg of a run that ends without an execution, and so without a text. */
export const endDormantLeg = ({ batch, at, ledger }: Write, run: RunRecord): void => {
  const leg = run.activation?.options.leg;
  if (!leg) return;
  const { deps, scope, tail } = ledger;
  deps.legs?.ended(batch, {
    scope,
    run,
    leg,
    seq: tail.seq,
    history: [],
    stopped: undefined,
    withdrawn: [],
    isRead: false,
    at,
  });
};
