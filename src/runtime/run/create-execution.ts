import type { ResolvedAgent } from '../../loop/agent.ts';
import { answerSoFar } from '../../loop/answer.ts';
import type { Mailer, RunTasks } from '../../loop/background.ts';
import { restoreCalls } from '../../loop/recover.ts';
import { settleLostTasks } from '../../loop/tasks.ts';
import type { Turn } from '../../loop/turn.ts';
import { monotonic } from '../../schema/clock.ts';
import type { Dispatch } from '../../schema/dispatch.ts';
import { entryOf, type RunRecord } from '../../schema/run-state.ts';
import { stageEvent } from '../delegation/wake.ts';
import type { BudgetMeter, RunAccount, RuntimeDeps, RunUsage } from '../deps.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { targetedAt } from '../ledger/pending.ts';
import type { Write } from '../ledger/transaction.ts';
import { commitProgress } from './commit-steps.ts';
import { beginStream, correlationOf, type Execution, type RunOwner } from './execution.ts';
import type { Channel } from './live-channel.ts';
import { payerOf } from './payer.ts';
import { putRecord, takeInput } from './record.ts';
import { createLoggedStream } from './stream.ts';
import { createTurn } from './turn.ts';

/** Creates the execution of a run, which `startActor` starts. */

export type ExecutionInput = {
  owner: RunOwner;
  ledger: Ledger;
  agent: ResolvedAgent;
  run: RunRecord;
  dispatch: Dispatch | undefined;
  channel: Channel;
  isAnnounced: boolean;
  compactor: Turn['compactor'];
  tasks: RunTasks | undefined;
  mail: Mailer | undefined;
  from: Execution['from'];
  /** Whether the process that executed the run before died. */
  interrupted: boolean;
};

export function createExecution(deps: RuntimeDeps, input: ExecutionInput): Execution {
  const { owner, ledger, agent, run, dispatch, channel, isAnnounced, from } = input;
  const { run_id } = run;
  const stream = createLoggedStream(deps.settings.event_capture_mode, {
    run_id,
    channel,
    continued: from !== 'created',
    watch: deps.runs && {
      began: (each) => deps.runs?.began(ledger.scope, run_id, each, () => answerSoFar(turn)),
      ended: () => deps.runs?.ended(ledger.scope, run_id),
    },
  });
  const turn = createTurn(deps, input, {
    stream,
    checkpoint: (boundary) => commitProgress(execution, boundary),
    logCompaction: ({ kind, payload }) => stream.tell(kind, payload),
    traceFor: (each) => {
      execution.trace = deps.traces?.observes(each) ? deps.traces.open(execution.run) : undefined;
      return execution.trace;
    },
    account() {
      if (deps.meter?.isActive()) execution.account ??= openAccount(deps.meter, execution);
      return execution.account;
    },
    noteUsage(note) {
      execution.usage ??= openUsage(execution);
      execution.usage?.note(note);
    },
  });
  const execution: Execution = {
    deps,
    owner,
    ledger,
    run_id,
    stream,
    turn,
    trace: undefined,
    account: undefined,
    usage: undefined,
    from,
    epoch: dispatch?.dispatch_epoch ?? ledger.epoch,
    startedAt: monotonic(deps.clock),
    run,
    stored: run,
    dispatch,
    entry: 'inference',
    actor: undefined,
    reportEnd: nothing,
    failure: undefined,
    end: 'consumed',
    released: undefined,
    isAnnounced,
    dropped: false,
    counted: false,
    reported: (from === 'waiting' && run.waiting?.ticket_ids?.join('\n')) || '',
  };
  turn.trace = turn.traceFor(agent);
  return execution;
}

const openAccount = (meter: BudgetMeter, { run, ledger, owner, stream }: Execution): RunAccount =>
  meter.open({
    payer: payerOf(ledger.scope, run),
    isStored: owner.isStored,
    notify: ({ kind, action: _, ...notice }) => stream.record(kind, notice),
  });

const openUsage = ({ deps, run, ledger, owner }: Execution): RunUsage | undefined =>
  deps.usage?.open({ ...payerOf(ledger.scope, run), isStored: owner.isStored });

const nothing = (): void => {};

/** Emits `run_start`; its log entries, and the initial input of the run, become part of the caller's write. */
export function announce(execution: Execution, write: Write): void {
  const { turn, from, run } = execution;
  reportLostTasks(execution, write);
  beginStream(execution, from === 'waiting');
  execution.stream.flush(write, correlationOf(execution));
  if (from === 'waiting') return;
  execution.entry = entryOf(run);
  restoreCalls(turn, execution.entry);
  if (execution.entry !== 'inference') {
    turn.lostAttempt = false;
    return;
  }
  const boundary = from === 'created' && !run.input ? 'new_run' : 'next_step';
  if (takeInput(execution, write, boundary) > 0) putRecord(execution, write);
}

/** Reports background tasks that were lost with an earlier process. */
function reportLostTasks({ ledger, turn, run_id }: Execution, write: Write): void {
  const staged = targetedAt(ledger.pending, run_id).map(({ message }) => message);
  for (const event of settleLostTasks(turn, staged, (id) => ledger.waiting.has(id)))
    stageEvent(write, run_id, event);
}
