import type { Dispatch } from '../../schema/dispatch.ts';
import type { Run } from '../../schema/run.ts';
import { commit } from '../ledger/commit.ts';
import { acceptKeyed, type Write } from '../ledger/transaction.ts';
import type { Channel } from '../run/live-channel.ts';
import type { Input } from './request-types.ts';
import type { Accepted } from './submission.ts';

type Acceptance = {
  /** The run that the input starts, continues or joins. */
  run: Pick<Run, 'run_id' | 'thread_id'>;
  dispatch: Dispatch | undefined;
  status: Accepted['status'];
  /** Holds back all frames until the input is durable. */
  channel?: Channel;
};

/** Commits the write that accepts input, and settles the request with the result. */
export function commitInput(
  write: Write,
  request: Input,
  { run: { run_id, thread_id }, dispatch, status, channel }: Acceptance,
): void {
  const accepted = { run_id, thread_id, dispatch_id: dispatch?.dispatch_id ?? run_id, status };
  acceptKeyed(write, request.keyed, accepted);
  commit(write, 'input').then(() => {
    channel?.release();
    request.accept(accepted);
  }, request.refuse);
}
